import { sql, type Kysely } from 'kysely';
import { problemOfNumbers } from '../../resources/huge-number.ts';
import { resourceNamed } from '../../resources/index.ts';
import { versionOfEntry } from '../quarantine/version-of-entry.ts';

/**
 * What is asked of an entry again and again is told by columns: reading a record of 32 MB for it, for every entry of a list or a page, fills
 * the memory of a worker, and numbers that may not land because Postgres would write them out were written out here.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(columns).execute(db);
  const { rows } = await sql<{ id: string }>`
    select id::text as id from sync.quarantine where status = 'open'`.execute(db);
  for (const { id } of rows) await fill(db, id);
}

const columns = String.raw`
  create function sync.text_hash(payload text) returns text
  language sql immutable as $$
    select encode(sha256(convert_to(
      regexp_replace(payload, '"last_synced_at"\s*:\s*("([^"\\]|\\.)*"|[^][{},\s]+)', '', 'g'), 'UTF8'
    )), 'hex')
  $$;
  comment on function sync.text_hash is
    'SHA-256 of the text of a record without last_synced_at: for what Postgres cannot read as JSON, or only in many times its length';

  alter table sync.quarantine add column content text, add column version_us bigint;
  comment on column sync.quarantine.content is
    'Hash of the content, without last_synced_at. Null: written by a release before 0.6, and not met again since';
  comment on column sync.quarantine.version_us is
    'Version that the record states, in microseconds since 1970. Null: none that is a time';
`;

/** One after the other: each may have 32 MB. */
async function fill(db: Kysely<unknown>, id: string): Promise<void> {
  const { rows } = await sql<{ resource: string; payload: string }>`
    select resource, payload from sync.quarantine where id = ${id}::bigint`.execute(db);
  for (const { resource, payload } of rows) {
    const hash = problemOfNumbers(payload) === undefined ? sql`sync.content_hash` : sql`sync.text_hash`;
    await sql`
      update sync.quarantine
      set content = ${hash}(payload), version_us = ${versionOfEntry(payload, resourceNamed(resource)) ?? null}
      where id = ${id}::bigint`.execute(db);
  }
}
