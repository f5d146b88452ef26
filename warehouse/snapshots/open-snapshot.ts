import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from 'pg';
import { holdLock, readLockHolder, type HeldLock } from '../transactions/hold-lock.ts';
import { openSession } from '../session/open-session.ts';
import { readServerFacts } from '../ownership/server-facts.ts';
import { forgetWeights, keepWeights, type TableWeights } from './keep-weights.ts';

/** One moment of the database, read by several sessions at once. */
export interface DatabaseSnapshot {
  /** The moment, by the database clock: ISO 8601 with microseconds. */
  readonly takenAt: string;
  readonly readers: readonly Client[];
  /** Releases the moment, so that vacuum can clean up behind it. The lock stays. */
  release(): Promise<void>;
  /** Closes all sessions. */
  close(): Promise<void>;
}

/** Another export of this warehouse is under way. */
export class ExportRunning extends Error {
  override readonly name = 'ExportRunning';
  readonly handling = 'retry';

  constructor(holder?: { application: string; pid: number }) {
    const who = holder?.application === ofErasure ? 'An erasure' : 'Another export of this warehouse';
    const session = holder === undefined ? '' : ` (session ${holder.pid})`;
    super(`${who} has not ended yet${session}; this one waits for it.`);
  }
}

/** The session of one export, and another one that holds its lock: until it is closed no other export of this warehouse runs, on any host. */
export interface ExportSession {
  readonly client: Client;
  /** Identifies the server and its database, as far as possible: transaction IDs mean something only there. */
  readonly origin: string;
  /** Throws LockLost if the lock is lost; the export must then not publish. */
  readonly assertAlive: () => Promise<void>;
  /**
   * Stores what its tables were found to hold, for the next export, once the moment is released. The session that has read the snapshot writes it: a
   * later session may be with a standby that took over meanwhile, and lacks what was read. Throws if the lock is lost.
   */
  keepWeights(weights: readonly TableWeights[]): Promise<void>;
  /** Makes the next export weigh everything. */
  forgetWeights(): Promise<void>;
  /** Opens one moment to this number of sessions, this one included. */
  openSnapshot(input: { readers: number }): Promise<DatabaseSnapshot>;
  close(): Promise<void>;
}

/** Opens the session. Throws ExportRunning if another export, or an erasure, does not end within ten seconds. */
export async function openExportSession(
  url: string,
  { isErasure = false }: { isErasure?: boolean } = {},
): Promise<ExportSession> {
  const lock = await lockExport(url, isErasure ? { application: ofErasure } : {});
  try {
    const client = await openSession(url, { application });
    const { system, database } = await readServerFacts(client);
    return {
      client,
      origin: `${system ?? ''}/${database}`,
      assertAlive: lock.assertHeld,
      keepWeights: (weights) => keepWeights(client, { weights, assertHeld: lock.assertHeld }),
      forgetWeights: () => forgetWeights(client),
      openSnapshot: ({ readers }) => openSnapshot(client, { url, readers }),
      async close() {
        await client.end();
        await lock.letGo();
      },
    };
  } catch (error) {
    await lock.letGo();
    throw error;
  }
}

async function lockExport(url: string, as: { application?: string }): Promise<HeldLock> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const lock = await holdLock(url, 'export', as);
    if (lock !== undefined) return lock;
    if (performance.now() > deadline) throw new ExportRunning(await readLockHolder(url, 'export'));
    await wait(500);
  }
}

const application = 'daybook export';
const ofErasure = 'daybook lock of an erasure';

async function openSnapshot(
  exporter: Client,
  { url, readers: count }: { url: string; readers: number },
): Promise<DatabaseSnapshot> {
  await exporter.query(beginReading);
  const { rows } = await exporter.query<{ snapshot: string; taken_at: string }>(
    `select
       pg_export_snapshot() as snapshot,
       to_char(clock_timestamp(), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as taken_at`,
  );
  const [{ snapshot, taken_at: takenAt } = { snapshot: '', taken_at: '' }] = rows;
  const opened = await Promise.all(
    Array.from({ length: count - 1 }, () => openSession(url, { application })),
  );
  for (const reader of opened) await reader.query(`${beginReading}; set transaction snapshot '${snapshot}'`);
  return {
    takenAt,
    readers: [exporter, ...opened],
    async release() {
      await Promise.all([exporter.query('commit'), ...opened.map((reader) => reader.end())]);
    },
    async close() {
      await Promise.all(opened.map((reader) => reader.end()));
    },
  };
}

/**
 * Set for this transaction alone, because a pooler may lend the session. A table may take long, and so may the check of its file afterward. A query
 * ends soon after the process that sent it.
 */
const beginReading = `begin isolation level repeatable read read only;
  set local statement_timeout = 0; set local idle_in_transaction_session_timeout = '1h';
  set local client_connection_check_interval = '2s'`;
