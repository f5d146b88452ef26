import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { relayLogins } from '../../warehouse/session/login-relay.ts';
import { openSession } from '../../warehouse/session/open-session.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse, url } = await createTestDatabase();

type Ask = (statement: string) => Promise<{ rows: { client_port: number }[] }>;

const sessions: [string, () => Promise<Ask>][] = [
  ['a session of the pool', () => Promise.resolve((statement) => warehouse.pool.query(statement))],
  [
    'a session of its own',
    async () => {
      const client = await openSession(url, { application: 'test' });
      onTestFinished(() => client.end());
      return (statement) => client.query(statement);
    },
  ],
  [
    'a session that another program has by the relay',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'relay-'));
      const relay = await relayLogins(url, join(folder, '.s.PGSQL.5432'));
      const { username: user, pathname } = new URL(url);
      const client = new pg.Client({ host: folder, user, database: pathname.slice(1) });
      await client.connect();
      onTestFinished(async () => {
        await client.end();
        await relay.close();
        await rm(folder, { recursive: true });
      });
      return (statement) => client.query(statement);
    },
  ],
];

// The host of a proxy on this machine would answer the probes, so the test asks the kernel when it will send the first.
test.runIf(process.platform === 'linux').each(sessions)(
  '%s probes a silent server within 10 s',
  async (_, open) => {
    const ask = await open();
    const { rows } = await ask('select client_port from pg_stat_activity where pid = pg_backend_pid()');
    const port = rows[0]?.client_port ?? 0;
    await eventually(async () => {
      const { timer, seconds } = await timerOf(port);
      expect(timer).toBe(keepAliveTimer);
      expect(seconds).toBeLessThanOrEqual(10);
      return true;
    });
  },
);

const keepAliveTimer = 2;
const established = '01';

/** The timer that the kernel has set for the connection from this port, and its time (proc(5)). */
async function timerOf(localPort: number): Promise<{ timer: number; seconds: number }> {
  const ending = `:${localPort.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of (await readFile(table, 'utf8')).split('\n')) {
      const [, local = '', , state, , timing = ''] = line.trim().split(/\s+/);
      const [timer = '', jiffies = ''] = timing.split(':');
      // A connection of that port to another server may be waiting for its end.
      if (local.endsWith(ending) && state === established)
        return { timer: parseInt(timer, 16), seconds: parseInt(jiffies, 16) / 100 };
    }
  }
  throw new Error(`No connection of this machine is from port ${localPort}.`);
}
