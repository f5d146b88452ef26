import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import { createApiClient, type ApiClient } from '../../source/api-client.ts';
import { openApiBudget, type ApiBudget } from '../../warehouse/api-budget/api-budget.ts';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import { createSandboxAdmin, type SandboxAdmin } from '../support/sandbox-admin.ts';
import { startVirtualClock, underVirtualTime, type VirtualClock } from './virtual-clock.ts';

/** The harness for histories: a real Postgres and the sandbox, in one virtual time. Each history has its own connection. */
export interface Harness {
  readonly databaseUrl: string;
  readonly warehouse: Warehouse;
  /** A separate session, for looking and for ending other sessions. */
  readonly watcher: pg.Client;
  readonly clock: VirtualClock;
  readonly admin: SandboxAdmin;
  readonly api: ApiClient;
  readonly apiAddress: string;
  /** Whether the session waits for a lock. */
  readonly isBlocked: (pid: number) => Promise<boolean>;
  readonly endSession: (pid: number) => Promise<void>;
  close(): Promise<void>;
}

/** Less than a busy episode asks for, so that the budget has to delay some requests. */
export const requestsPer10s = 12;

/** A few histories before seconds exceed 31 bits, and milliseconds as fractions of them lose digits. */
const beginning = Date.UTC(2038, 0, 10, 12);

/** `databaseUrl` names an empty migrated database, which keeps the virtual time permanently. */
export async function openHarness(databaseUrl: string): Promise<Harness> {
  const clock = await startVirtualClock(databaseUrl, beginning);
  const warehouse = openWarehouse({ url: underVirtualTime(databaseUrl), connections: 40 });
  const watcher = new pg.Client({ connectionString: underVirtualTime(databaseUrl) });
  await watcher.connect();
  const sandbox = await startSandbox({ records: 100 });
  const admin = createSandboxAdmin(sandbox.adminUrl);
  const api = openApi({ warehouse, clock, url: sandbox.url });
  return {
    databaseUrl,
    warehouse,
    watcher,
    clock,
    admin,
    api,
    apiAddress: sandbox.url,
    async isBlocked(pid) {
      const { rows } = await watcher.query<{ blocked: boolean }>(
        'select cardinality(pg_blocking_pids($1)) > 0 as blocked',
        [pid],
      );
      return rows[0]?.blocked === true;
    },
    async endSession(pid) {
      await watcher.query('select pg_terminate_backend($1, 5000)', [pid]);
    },
    async close() {
      await api.close();
      await sandbox.close();
      await watcher.end();
      // A history that never ended still holds sessions. The failure must be reported all the same.
      await Promise.race([warehouse.close(), wait(5_000)]);
      await clock.close();
    },
  };
}

function openApi({
  warehouse,
  clock,
  url,
}: {
  warehouse: Warehouse;
  clock: VirtualClock;
  url: string;
}): ApiClient {
  const monotonic = (): number => clock.now();
  const open = (): ApiBudget =>
    openApiBudget(warehouse, { apiAddress: url, clientId: 'sandbox-client', requestsPer10s, monotonic });
  // Two budgets, as of two processes, send in turn, which tests that they count together.
  const budgets = [open(), open()] as const;
  let taken = 0;
  return createApiClient({
    baseUrl: url,
    clientId: 'sandbox-client',
    clientSecret: 'sandbox-secret',
    version: '2023-03-14',
    budget: {
      ...budgets[0],
      async take() {
        taken += 1;
        const budget = budgets[taken % 2 === 0 ? 0 : 1];
        for (;;) {
          const aborter = new AbortController();
          const allowed = budget.take(aborter.signal);
          // The budget would wait in real time, so it is asked once, and then virtual time passes.
          aborter.abort();
          try {
            return await allowed;
          } catch (error) {
            if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
            await clock.pass(1_000);
          }
        }
      },
    },
  });
}
