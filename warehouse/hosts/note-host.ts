import type { Warehouse } from '../open-warehouse.ts';

/** A home of Daybook's: the ID is kept in it, so that it goes where the files go. */
export interface Host {
  readonly hostId: string;
  /** For people. */
  readonly name: string;
}

/** Notes that a host is there. Returns the erasure that asks it to clear its files, as text to be given back; null when there is none. */
export async function noteHost({ pool }: Warehouse, host: Host): Promise<string | null> {
  return (await note(pool, host)).clear_since;
}

/** Notes a host while `work` runs, which leaves files there if it is killed. Afterwards a host that nobody else has noted is forgotten. */
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
