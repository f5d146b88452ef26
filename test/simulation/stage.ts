import pg from 'pg';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import { createApiClient, type ApiClient } from '../../source/api-client.ts';
import { openApiBudget } from '../../warehouse/api-budget.ts';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import { createSandboxAdmin, type SandboxAdmin } from '../support/sandbox-admin.ts';
import { startVirtualClock, underVirtualTime, type VirtualClock } from './virtual-clock.ts';

/** Where histories are played: a real Postgres and the sandbox, in one virtual time. Each history is a connection of its own. */
export interface Stage {
  readonly databaseUrl: string;
  readonly warehouse: Warehouse;
  /** A session of its own, for looking and for ending other sessions. */
  readonly watcher: pg.Client;
  readonly clock: VirtualClock;
  readonly admin: SandboxAdmin;
  readonly api: ApiClient;
  readonly apiAddress: string;
  close(): Promise<void>;
}

/** Less than a busy episode asks for, so that the budget has to hold something back. */
export const requestsPer10s = 60;

/** `databaseUrl`: an empty migrated database, which keeps the virtual time for good. */
export async function openStage(databaseUrl: string): Promise<Stage> {
  const clock = await startVirtualClock(databaseUrl, Date.UTC(2026, 2, 1, 12));
  const warehouse = openWarehouse({ url: underVirtualTime(databaseUrl), connections: 40 });
  const watcher = new pg.Client({ connectionString: underVirtualTime(databaseUrl) });
  await watcher.connect();
  const sandbox = await startSandbox({ records: 100 });
  const admin = createSandboxAdmin(sandbox.adminUrl);
  const api = openApi({ warehouse, clock, url: sandbox.url });
  return {
    ...{ databaseUrl, warehouse, watcher, clock, admin, api, apiAddress: sandbox.url },
    async close() {
      await api.close();
      await sandbox.close();
      await watcher.end();
      await warehouse.close();
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
  const budget = openApiBudget(warehouse, { apiAddress: url, clientId: 'sandbox-client', requestsPer10s });
  const allowed: number[] = [];
  let blockedUntil = 0;
  return createApiClient({
    ...{ baseUrl: url, clientId: 'sandbox-client', clientSecret: 'sandbox-secret', version: '2023-03-14' },
    budget: {
      async take(signal) {
        // The budget waits in real time; here what it will wait for passes before it is asked.
        const wait = Math.max(
          blockedUntil - clock.now(),
          (allowed.at(-requestsPer10s) ?? 0) + 11_001 - clock.now(),
        );
        if (wait > 0 && wait <= 15_000) await clock.pass(wait);
        allowed.push(clock.now());
        return budget.take(signal);
      },
      async reportRateLimited(notBefore) {
        blockedUntil = notBefore.getTime();
        await budget.reportRateLimited(notBefore);
      },
    },
  });
}
