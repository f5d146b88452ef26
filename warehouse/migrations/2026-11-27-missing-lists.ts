import { sql, type Kysely } from 'kysely';

/** A list that ever returned a page is supported: its 404 is a failure, and only a week of nothing else says that it is gone. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(missingLists).execute(db);
}

const missingLists = `
  alter table sync.streams
    add column listed_at timestamptz,
    add column missing_since timestamptz,
    add column missing_at timestamptz;
  comment on column sync.streams.listed_at is
    'When the list first returned a page, by the database clock; null: never. From then on its 404 is a failure';
  comment on column sync.streams.missing_since is
    'Since when the list answers 404 and nothing else, although it returned pages before, by the database clock; null: it does not';
  comment on column sync.streams.missing_at is
    'When the list last answered 404 in the series that missing_since began, by the database clock';

  comment on column sync.alerts.kind is
    'What is wrong: failed, paused, stale, stalled, unsupported, approval, quarantine, webhooks, export, marts';
`;
