import { sql, type Kysely } from 'kysely';

/** What a person has discarded is recognised by its content, however often only its version moves, and after pruning. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(discardedContent).execute(db);
}

/** What Postgres refuses as JSON, and what is no object, is compared as text. */
const discardedContent = String.raw`
  create function sync.content_hash(payload text) returns text
  language plpgsql immutable as $$
  begin
    return encode(sha256(convert_to((payload::jsonb - 'last_synced_at')::text, 'UTF8')), 'hex');
  exception when data_exception or program_limit_exceeded then
    return encode(sha256(convert_to(
      regexp_replace(payload, '"last_synced_at"\s*:\s*("([^"\\]|\\.)*"|[^][{},\s]+)', '', 'g'), 'UTF8'
    )), 'hex');
  end
  $$;
  comment on function sync.content_hash is
    'SHA-256 of a record without last_synced_at: equal for what differs in that, in the order of its fields or in spaces';

  alter table sync.quarantine add column discarded_content text;
  comment on column sync.quarantine.discarded_content is
    'Hash of the content that a person has discarded: it opens no entry again. Null: no person has';
  comment on column sync.quarantine.entry_key is 'What makes the entry one: the record ID, else the hash of the content';
  comment on column sync.quarantine.payload is
    'The record as the API sent it, character by character; empty once it was pruned';
`;
