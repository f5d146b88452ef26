import { sql, type Kysely } from 'kysely';

/** What a snapshot added to those before it is read of the database: the console asks no lake. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const statements = `
  alter table sync.snapshots
    add column parts integer,
    add column parts_added integer,
    add column bytes_added bigint;
  comment on column sync.snapshots.parts is 'Parquet files; null for one that a release before 0.6 published';
  comment on column sync.snapshots.parts_added is 'Of these, how many were written for it; it shares the others with earlier snapshots';
  comment on column sync.snapshots.bytes_added is 'Bytes of the files that were written for it';
`;
