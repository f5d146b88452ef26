import type { Warehouse } from '../open-warehouse.ts';

/** A home of Daybook's: the ID is kept in it, so that it goes where the files go. */
export interface Host {
  readonly hostId: string;
  /** For people. */
  readonly name: string;
}

/** Notes that a host is there. Returns the erasure that asks it to clear its files, as text to be given back; null when there is none. */
export async function noteHost({ pool }: Warehouse, { hostId, name }: Host): Promise<string | null> {
  const { rows } = await pool.query<{ clear_since: string | null }>(
    `insert into sync.hosts (host_id, name) values ($1, $2)
     on conflict (host_id) do update set name = excluded.name, seen_at = clock_timestamp()
     returning clear_since::text`,
    [hostId, name],
  );
  return rows[0]?.clear_since ?? null;
}

/** Notes a host for the time of work that a kill would leave files of; once it is done, one that nobody else has noted is forgotten. */
export async function whileNoted<Result>(
  { pool }: Warehouse,
  { hostId, name }: Host,
  work: () => Promise<Result>,
): Promise<Result> {
  const { rows } = await pool.query<{ seen_at: string; is_new: boolean }>(
    `insert into sync.hosts (host_id, name) values ($1, $2)
     on conflict (host_id) do update set name = excluded.name, seen_at = clock_timestamp()
     returning seen_at::text, xmax = 0 as is_new`,
    [hostId, name],
  );
  const result = await work();
  if (rows[0]?.is_new === true)
    await pool.query('delete from sync.hosts where host_id = $1 and seen_at = $2::timestamptz', [
      hostId,
      rows[0].seen_at,
    ]);
  return result;
}

/** Notes that a host has done what that erasure asked for; one that came later still asks. */
export async function noteHostCleared(
  { pool }: Warehouse,
  { hostId, asked }: { hostId: string; asked: string },
): Promise<void> {
  await pool.query(
    'update sync.hosts set clear_since = null where host_id = $1 and clear_since = $2::timestamptz',
    [hostId, asked],
  );
}

export interface AskedHost {
  readonly name: string;
  readonly seen_at: Date;
}

/** Asks all other hosts to clear their files. Returns them, the last seen first. */
export async function askOtherHostsToClear(
  { pool }: Warehouse,
  { hostId }: { hostId: string },
): Promise<AskedHost[]> {
  const { rows } = await pool.query<AskedHost>(
    `with asked as (
       update sync.hosts set clear_since = clock_timestamp() where host_id <> $1
       returning name, seen_at
     )
     select name, seen_at from asked order by seen_at desc`,
    [hostId],
  );
  return rows;
}
