import type { ClientBase } from 'pg';
import { notGoing } from './not-going.ts';

/** Facts in a manifest beside its tables. */
export interface SnapshotContext {
  /** Name of the newest migration. */
  schemaVersion: string;
  watermarks: { connection_id: string; stream: string; watermark: string | null }[];
}

export async function readContext(client: ClientBase): Promise<SnapshotContext> {
  const { rows: watermarks } = await client.query<SnapshotContext['watermarks'][number]>(
    `select connection_id, stream, to_char(watermark, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as watermark
     from sync.streams where ${notGoing} order by connection_id, stream`,
  );
  const { rows } = await client.query<{ name: string }>('select max(name) as name from sync.migrations');
  return { schemaVersion: rows[0]?.name ?? '', watermarks };
}

/** Reads the bytes that the tables take in the database: a snapshot takes less. */
export async function readTableBytes(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    `select coalesce(sum(pg_table_size(oid)), 0)::text as bytes
     from pg_class where relnamespace = 'finance'::regnamespace and relkind = 'r'`,
  );
  return Number(rows[0]?.bytes);
}
