import { setTimeout as wait } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { codeOf } from '../errors/code-of.ts';

/** Somebody who reads holds what has to be replaced. */
export class LockHeld extends Error {
  override readonly name = 'LockHeld';
  readonly handling = 'stop';

  constructor(what: string, holders: readonly string[]) {
    const who =
      holders.length === 0
        ? 'Something of Daybook itself has held what it needs for too long'
        : `${holders.join('; ')} in a transaction that does not end`;
    super(`${what} could not go on: ${who}. End that session, or have its owner end it, and try again.`);
  }
}

/**
 * Runs `work` in a transaction that takes locks which readers may be in the way of. While it waits for one, everybody else who
 * wants to read waits behind it: so briefly, and often, about four minutes. Throws LockHeld, which names who is in the way.
 */
export async function takingLocks<Result>(
  client: ClientBase,
  { what, attempts = 120 }: { what: string; attempts?: number },
  work: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryOnce(client, work);
    } catch (error) {
      if (!isLockRefused(error)) throw error;
      if (attempt >= attempts) throw new LockHeld(what, await holdersOf(client));
      await wait(1_000);
    }
  }
}

async function tryOnce<Result>(client: ClientBase, work: () => Promise<Result>): Promise<Result> {
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = '${lockTimeout}'`);
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

export const lockTimeout = '500ms';

/** Somebody else had it: what was rolled back may be tried again. A deadlock ends as soon as one of the two gives up. */
export function isLockRefused(error: unknown): boolean {
  return ['55P03', '40P01'].includes(String(codeOf(error)));
}

/** Who is not Daybook and holds a table or view of ours. Where they run and what, only they and a superuser may see. */
export async function holdersOf(client: Pick<ClientBase, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ holder: string }>(`
    select format(
      '%s (session %s%s) reads %s', a.usename, a.pid, coalesce(', ' || nullif(a.application_name, ''), ''),
      string_agg(distinct format('%s.%s', n.nspname, c.relname), ', ')
    ) as holder
    from pg_locks l
    join pg_stat_activity a using (pid)
    join pg_class c on c.oid = l.relation and c.relkind in ('r', 'v', 'm')
    join pg_namespace n on n.oid = c.relnamespace
    where l.granted and l.database = (select oid from pg_database where datname = current_database())
      and n.nspname in ('finance', 'history', 'sync', 'staging', 'intermediate', 'marts', 'marts_a', 'marts_b')
      and not pg_has_role(a.usesysid, current_user, 'member')
    group by a.usename, a.pid, a.application_name
    order by a.pid
  `);
  return rows.map(({ holder }) => holder);
}
