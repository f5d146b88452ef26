import type { Warehouse } from '../open-warehouse.ts';

/** A home directory of Daybook. It contains the ID, so that the ID moves with the files. */
export interface Host {
  readonly hostId: string;
  /** Name to show to people. */
  readonly name: string;
}

/** Records that a host exists. Returns the erasure that asks it to clear its files, as text for `noteHostCleared`; null if there is none. */
export async function noteHost({ pool }: Warehouse, host: Host): Promise<string | null> {
  return (await note(pool, host)).clear_since;
}

/**
 * Records a host while `work` runs, which leaves files there if it is killed. Afterward the host is deleted again, unless another process has
 * recorded it.
 */
export async function whileNoted<Result>(
  { pool }: Warehouse,
  host: Host,
  work: () => Promise<Result>,
): Promise<Result> {
  const { is_new, seen_at } = await note(pool, host);
  const result = await work();
  if (is_new)
    await pool.query('delete from sync.hosts where host_id = $1 and seen_at = $2::timestamptz', [
      host.hostId,
      seen_at,
    ]);
  return result;
}

interface Noted {
  readonly clear_since: string | null;
  readonly seen_at: string;
  readonly is_new: boolean;
}

async function note(pool: Warehouse['pool'], { hostId, name }: Host): Promise<Noted> {
  const { rows } = await pool.query<Noted>(
    `insert into sync.hosts (host_id, name) values ($1, $2)
     on conflict (host_id) do update set name = excluded.name, seen_at = clock_timestamp()
     returning clear_since::text, seen_at::text, xmax = 0 as is_new`,
    [hostId, name],
  );
  const [noted] = rows;
  if (noted === undefined) throw new Error('An upsert returned no row.');
  return noted;
}

/** Records that a host has cleared its files for that erasure; a later request stays open. */
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

/** Asks all other hosts to clear their files. Returns them, the most recently seen first. */
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
