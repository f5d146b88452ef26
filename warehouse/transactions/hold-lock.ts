import type { ClientBase } from 'pg';
import { codeOf } from '../../errors/code-of.ts';
import { beginStatement } from './in-transaction.ts';
import { openSession } from '../session/open-session.ts';

/** Work that one process at a time does, on any host. */
export type LockName = 'export' | 'marts/postgres' | 'marts/lake' | 'marts/spark';

const held: Readonly<Record<LockName, string>> = {
  export: 'snapshots',
  'marts/postgres': 'marts in Postgres',
  'marts/lake': 'marts on the lake',
  'marts/spark': 'marts of Spark',
};

/** Who holds a lock has lost it, and another one may have it: it changes nothing more. */
export class LockLost extends Error {
  override readonly name = 'LockLost';
  readonly handling = 'retry';

  constructor(lock: LockName, cause?: unknown) {
    super(
      `The lock on the ${held[lock]} was lost, because this process stood still for half a minute or its connection to Postgres ended. ` +
        'Another one may be writing there, so this one changes nothing more. A worker tries again by itself; a command has to be run again.',
      { cause },
    );
  }
}

export interface HeldLock {
  /** The transaction that holds it, as `PID VIRTUALTRANSACTION` of pg_locks. Another session can look there whether it is still held. */
  readonly transaction: string;
  /** Throws LockLost if the session that holds it is gone, or the error of a database that does not answer; the work must then stop. */
  readonly assertHeld: () => Promise<void>;
  /** Takes another lock in the same session until `work` is over. Undefined if another session has it. */
  withAnother<Result>(name: LockName, work: () => Promise<Result>): Promise<{ result: Result } | undefined>;
  letGo(): Promise<void>;
}

/**
 * Takes a lock until it is released; undefined if another session has it. It is the lock on a table that only Daybook may lock, in a transaction that
 * stays open and does nothing else. So it works through a pooler, which leaves a session to a client with an open transaction. It ends with the
 * process, and a process that stalls and no longer signals that it is alive loses it. The transaction has neither a snapshot nor an ID, so vacuum
 * goes on behind it.
 */
export async function holdLock(
  url: string,
  name: LockName,
  { application = 'daybook lock' }: { application?: string } = {},
): Promise<HeldLock | undefined> {
  const client = await openSession(url, { application });
  let transaction: string;
  try {
    await client.query(`${beginStatement}; ${openForLong}`);
    if (!(await takeLock(client, locks[name]))) {
      await client.end();
      return undefined;
    }
    transaction = await readTransaction(client);
  } catch (error) {
    await client.end();
    throw error;
  }
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other, so that the answer is to a query that was sent after the call. */
  const inTurn = <Result>(step: () => Promise<Result>): Promise<Result> => {
    const done = last.then(step);
    last = done.catch(() => undefined);
    return done;
  };
  const ask = async (): Promise<void> => {
    await inTurn(() => client.query('select'));
  };
  const beating = setInterval(() => {
    // If the lock is lost, `assertHeld` throws.
    ask().catch(() => undefined);
  }, beatMilliseconds).unref();
  return {
    transaction,
    async assertHeld() {
      try {
        await ask();
      } catch (error) {
        // A database that does not answer is what to report: its own error is thrown here.
        await (await openSession(url, { application })).end();
        throw new LockLost(name, error);
      }
    },
    async withAnother(other, work) {
      const isTaken = await inTurn(async () => {
        await client.query('savepoint another');
        const isFree = await takeLock(client, locks[other]);
        if (!isFree) await client.query(withoutAnother);
        return isFree;
      });
      if (!isTaken) return undefined;
      try {
        return { result: await work() };
      } finally {
        // A session that was lost has no lock to let go of.
        await inTurn(() => client.query(withoutAnother)).catch(() => undefined);
      }
    },
    async letGo() {
      clearInterval(beating);
      await client.end();
    },
  };
}

async function readTransaction(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ transaction: string }>(
    `select pid || ' ' || virtualtransaction as transaction from pg_locks where pid = pg_backend_pid() limit 1`,
  );
  return rows[0]?.transaction ?? '';
}

/** Lets go of what was locked since the savepoint. */
const withoutAnother = 'rollback to savepoint another; release savepoint another';

/** Reads the name and process ID of the session that has a lock; undefined if none has, or one of a release before 0.6. */
export async function readLockHolder(
  url: string,
  name: LockName,
): Promise<{ application: string; pid: number } | undefined> {
  const client = await openSession(url, { application: 'daybook lock' });
  try {
    const { rows } = await client.query<{ application: string; pid: number }>(
      `select a.application_name as application, a.pid
       from pg_locks l join pg_stat_activity a using (pid)
       where ${holds(name)}`,
    );
    return rows[0];
  } finally {
    await client.end();
  }
}

/** Whether a transaction holds a lock, as another session sees it: see `HeldLock`. */
export async function isHeldBy(
  client: Pick<ClientBase, 'query'>,
  { name, transaction }: { name: LockName; transaction: string },
): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from pg_locks l where ${holds(name)} and l.pid || ' ' || l.virtualtransaction = $1`,
    [transaction],
  );
  return rowCount === 1;
}

/** SQL for whether a row of pg_locks (`l`) is the lock. */
function holds(name: LockName): string {
  return `l.database = (select oid from pg_database where datname = current_database())
    and l.relation = '${locks[name].table}'::regclass and l.granted and l.mode = 'ShareUpdateExclusiveLock'`;
}

/** The table to lock, and the advisory lock that releases before 0.6 take instead: another user who holds that one blocks nobody. */
const locks: Readonly<Record<LockName, { table: string; oldKey: string }>> = {
  export: { table: 'sync.export_lock', oldKey: '3251656497959521245' },
  'marts/postgres': { table: 'sync.marts_postgres_lock', oldKey: '7232019552' },
  'marts/lake': { table: 'sync.marts_lake_lock', oldKey: '7232019553' },
  'marts/spark': { table: 'sync.marts_spark_lock', oldKey: '7232019554' },
};

async function takeLock(client: ClientBase, { table, oldKey }: (typeof locks)[LockName]): Promise<boolean> {
  try {
    await client.query(`lock table ${table} in share update exclusive mode nowait`);
  } catch (error) {
    if (codeOf(error) === lockNotAvailable) return false;
    throw error;
  }
  // Without parameters: a statement with parameters keeps its snapshot until the next one.
  const { rows } = await client.query<{ free: boolean }>(
    `select pg_try_advisory_xact_lock(${oldKey}) or not sync.is_held_by_us(${oldKey}) as free`,
  );
  return rows[0]?.free === true;
}

/** Six beats may be missed. Postgres 17 and newer can be set to end every transaction that takes long. */
const openForLong = `
  set local idle_in_transaction_session_timeout = '30s';
  select set_config(name, '0', true) from pg_settings where name = 'transaction_timeout'`;
const beatMilliseconds = 5_000;

const lockNotAvailable = '55P03';
