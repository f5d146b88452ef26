import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { tryLock } from '../try-lock.ts';

/** One moment of the database, read by several sessions at once. */
export interface DatabaseSnapshot {
  /** The moment, by the database clock: ISO 8601 with microseconds. */
  readonly takenAt: string;
  readonly readers: readonly pg.Client[];
  /** Lets the moment go, so that vacuum can clean up behind it. The lock stays. */
  release(): Promise<void>;
  /** Gives up everything. */
  close(): Promise<void>;
}

/** Another export of this warehouse is under way. */
export class ExportRunning extends Error {
  override readonly name = 'ExportRunning';
  readonly handling = 'retry';

  constructor() {
    super('Another export of this warehouse has not ended yet; this one waits for it.');
  }
}

/** The session of one export: while it lives, no other export of this warehouse runs, on any host. */
export interface ExportSession {
  readonly client: pg.Client;
  /** Throws when the session is gone, and with it the right to publish. */
  assertAlive(): Promise<void>;
  /** Opens `readers` more sessions on one moment; with none the session itself reads. */
  openSnapshot(input: { readers: number }): Promise<DatabaseSnapshot>;
  close(): Promise<void>;
}

/** Throws ExportRunning when another export does not end within ten seconds. */
export async function openExportSession(url: string): Promise<ExportSession> {
  const client = await connect(url);
  try {
    await lockExport(client);
  } catch (error) {
    await client.end();
    throw error;
  }
  return {
    client,
    async assertAlive() {
      await client.query('select 1');
    },
    openSnapshot: ({ readers }) => openSnapshot(client, { url, readers }),
    close: () => client.end(),
  };
}

async function lockExport(client: pg.Client): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await tryLock(client, { name: 'export', oldKey }))) {
    if (performance.now() > deadline) throw new ExportRunning();
    await wait(200);
  }
}

/** What releases before 0.6 lock: `hashtextextended('daybook export', 0)`. */
const oldKey = '3251656497959521245';

async function openSnapshot(
  exporter: pg.Client,
  { url, readers: count }: { url: string; readers: number },
): Promise<DatabaseSnapshot> {
  await exporter.query('begin isolation level repeatable read read only');
  const { rows } = await exporter.query<{ snapshot: string; taken_at: string }>(
    `select
       pg_export_snapshot() as snapshot,
       to_char(clock_timestamp(), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as taken_at`,
  );
  const [{ snapshot, taken_at: takenAt } = { snapshot: '', taken_at: '' }] = rows;
  const opened = await Promise.all(Array.from({ length: count }, () => connect(url)));
  for (const reader of opened) {
    await reader.query('begin isolation level repeatable read read only');
    await reader.query(`set transaction snapshot '${snapshot}'`);
  }
  return {
    takenAt,
    readers: opened.length === 0 ? [exporter] : opened,
    async release() {
      await Promise.all([exporter.query('commit'), ...opened.map((reader) => reader.end())]);
    },
    async close() {
      await Promise.all(opened.map((reader) => reader.end()));
    },
  };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    keepAlive: true,
    application_name: 'daybook export',
  });
  // A session that breaks rejects its statement; without a listener it would end the process too.
  client.on('error', () => undefined);
  await client.connect();
  // Texts do not depend on what the server or the role is set to, and a query ends soon after the process that asked it.
  await client.query(`set time zone 'UTC'; set datestyle = 'ISO'; set statement_timeout = 0;
    set idle_in_transaction_session_timeout = 0; set client_connection_check_interval = '2s'`);
  return client;
}
