import { setTimeout as wait } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { codeOf } from '../../errors/code-of.ts';
import { beginStatement } from './in-transaction.ts';
import { sessionInWords } from './session-in-words.ts';

/** A reader holds what has to be replaced. */
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

/** How to report a wait for a lock, and how to end it. */
export interface LockWait {
  /** Called with the sessions that hold the lock, at first and twice a minute. */
  readonly onStep?: (text: string) => void;
  readonly signal?: AbortSignal;
  /** How long to wait for readers; absent: an hour. */
  readonly timeoutMilliseconds?: number;
  /** Throws, in each transaction before the work, if the lock under which it is done is lost. */
  readonly requireLock?: (client: ClientBase) => Promise<void>;
}

/**
 * Runs `work` in a transaction that takes locks which readers may hold. While it waits for one, all other readers queue behind it, so it waits
 * briefly and retries for an hour, because a reader's query may last for minutes. Throws LockHeld, which names the sessions that hold the lock, and
 * the reason of the signal.
 */
export async function takingLocks<Result>(
  client: ClientBase,
  { what, timeoutMilliseconds = 3_600_000, onStep, signal, requireLock }: LockWait & { what: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const started = performance.now();
  let told = -Infinity;
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await tryOnce(client, async () => {
        await requireLock?.(client);
        return work();
      });
    } catch (error) {
      if (!isLockRefused(error)) throw error;
    }
    const now = performance.now();
    if (now - started > timeoutMilliseconds) throw new LockHeld(what, await readLockHolders(client));
    if (now - told > 30_000) {
      told = now;
      onStep?.(`${what} waits for ${(await readLockHolders(client)).join('; ') || 'Daybook itself'}`);
    }
    await wait(backoffMilliseconds(attempt), undefined, { signal }).catch(() => undefined);
  }
}

/** Returns the backoff: each attempt holds up readers for half a second, so attempts must be no more frequent than needed. */
function backoffMilliseconds(attempt: number): number {
  return Math.min(1_000 * 1.3 ** (attempt - 1), 10_000) * (0.75 + Math.random() / 2);
}

/**
 * Locks tables and views for the transaction alone, all of them or none. If they were locked one by one, those locked first would be kept from
 * readers while the next ones are waited for.
 */
export async function lockAtOnce(client: ClientBase, relations: readonly string[]): Promise<void> {
  if (relations.length === 0) return;
  await client.query(`set local statement_timeout = '${lockTimeout}'`);
  try {
    await client.query(`lock table ${relations.join(', ')} in access exclusive mode`);
  } catch (error) {
    throw codeOf(error) === canceled ? new LockRefused(error) : error;
  }
  await client.query('set local statement_timeout to default');
}

const canceled = '57014';

class LockRefused extends Error {
  override readonly name = 'LockRefused';
  readonly code = '55P03';

  constructor(cause: unknown) {
    super('Somebody reads what has to be replaced.', { cause });
  }
}

async function tryOnce<Result>(client: ClientBase, work: () => Promise<Result>): Promise<Result> {
  await client.query(beginStatement);
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

/** Whether another session had the lock: what was rolled back may be retried. A deadlock ends as soon as one of the two gives up. */
export function isLockRefused(error: unknown): boolean {
  return ['55P03', '40P01'].includes(String(codeOf(error)));
}

/** SQL for whether a session (`a`, of pg_stat_activity) is Daybook's. A superuser has every role. */
export const isOwnSession = `(
  pg_has_role(a.usesysid, current_user, 'member')
  and (a.usename = current_user or not (select rolsuper from pg_roles where oid = a.usesysid))
)`;

/**
 * Reads the sessions, other than Daybook's, that hold a table or view of ours. Only they and a superuser may see from where, and what they run. A
 * session without a user, in this database, is autovacuum.
 */
async function readLockHolders(client: Pick<ClientBase, 'query'>): Promise<string[]> {
  const { rows } = await client.query<Holder & { relations: string }>(`
    select coalesce(a.usename, 'autovacuum') as "user", a.pid, a.application_name as application,
      string_agg(distinct format('%s.%s', n.nspname, c.relname), ', ') as relations
    from pg_locks l
    join pg_stat_activity a using (pid)
    join pg_class c on c.oid = l.relation and c.relkind in ('r', 'v', 'm')
    join pg_namespace n on n.oid = c.relnamespace
    where l.granted and l.database = (select oid from pg_database where datname = current_database())
      and n.nspname in ('finance', 'history', 'sync', 'staging', 'intermediate', 'marts', 'marts_a', 'marts_b')
      and not coalesce(${isOwnSession}, false)
    group by a.usename, a.pid, a.application_name
    order by a.pid
  `);
  return rows.map(({ relations, ...holder }) => `${inWords(holder)} reads ${relations}`);
}

/** Reads the sessions, other than Daybook's, that have changed a role, or its settings, in a transaction that is still open. */
export async function changersOfRoles(client: Pick<ClientBase, 'query'>): Promise<string[]> {
  const { rows } = await client.query<Holder>(`
    select distinct a.usename as "user", a.pid, a.application_name as application
    from pg_locks l
    join pg_stat_activity a using (pid)
    where l.granted and l.mode = 'RowExclusiveLock' and l.database = 0
      and l.relation in ('pg_authid'::regclass, 'pg_db_role_setting'::regclass) and not ${isOwnSession}
    order by a.pid
  `);
  return rows.map(inWords);
}

interface Holder {
  readonly user: string;
  readonly pid: number;
  readonly application: string | null;
}

function inWords({ user, ...session }: Holder): string {
  return `${user} (${sessionInWords(session)})`;
}
