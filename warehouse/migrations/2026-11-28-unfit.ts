import { sql, type Kysely } from 'kysely';

/** What has too many decimals is rounded in a snapshot; only what has too many digits before the point is null. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(comment).execute(db);
}

const comment = `
  comment on column sync.snapshots.unfit is
    'Values that their Parquet type cannot hold to the last digit, each listed in the manifest with all its digits: rounded in the file where only decimals are too many (rounded is true there), else null';
`;
