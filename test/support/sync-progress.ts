import { eventually } from './eventually.ts';
import type { Installation } from './installation.ts';
import { row, type Row } from './rows.ts';

/** Waits until a stream of the connection's running sync has committed so many pages. */
export async function untilPages(
  { warehouse }: Pick<Installation, 'warehouse'>,
  { connection, stream = 'bills', pages }: { connection: string; stream?: string; pages: number },
): Promise<void> {
  await eventually(async () => {
    const { rows } = await warehouse.pool.query(
      `select from sync.run_streams
       where connection_id = $1 and stream = $2 and status = 'running' and pages >= $3`,
      [connection, stream, pages],
    );
    return rows.length > 0 ? true : undefined;
  });
}

/** The pass of a stream: the point from which a sync continues. */
export function readPass(
  { warehouse }: Pick<Installation, 'warehouse'>,
  { connection, stream = 'bills' }: { connection: string; stream?: string },
): Promise<Row> {
  return row(
    warehouse,
    'select cursor, pages, lease from sync.passes where connection_id = $1 and stream = $2',
    [connection, stream],
  );
}
