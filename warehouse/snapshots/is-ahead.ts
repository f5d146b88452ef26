import type { ClientBase } from 'pg';

/** Whether a time lies in the future by the clock of Postgres, from which the times of snapshots come. */
export async function isAhead(client: Pick<ClientBase, 'query'>, at: string): Promise<boolean> {
  const { rows } = await client.query<{ ahead: boolean }>(
    'select $1::timestamptz > clock_timestamp() as ahead',
    [at],
  );
  return rows[0]?.ahead === true;
}
