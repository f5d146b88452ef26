import { streamNamed } from '../resources/index.ts';
import { createApiClient } from '../source/api-client.ts';
import { listOfStream } from '../source/lists.ts';
import { readPages } from '../source/read-pages.ts';
import { openApiBudget } from '../warehouse/api-budget/api-budget.ts';
import { createFindHeld } from '../warehouse/landing/find-held.ts';
import { landPage } from '../warehouse/landing/land-page.ts';
import { preparePage } from '../warehouse/landing/prepared-page.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { takePass } from '../warehouse/passes/take-pass.ts';
import { beginRun } from '../warehouse/runs/begin-run.ts';
import type { BenchServers } from './bench-servers.ts';
import { billsToken } from './bills-token.ts';

/** Reads and lands one stream as the activity does, but without Temporal. Returns the seconds. */
export async function landDirectly(
  warehouse: Warehouse,
  servers: BenchServers,
  { connection, bills }: { connection: string; bills: number },
): Promise<number> {
  const listed = streamNamed('bills');
  const { stream, resource } = listed;
  const runId = `direct-${Date.now()}`;
  const run = {
    runId,
    connectionId: connection,
    kind: 'sync',
    workflowId: '',
    temporalRunId: '',
    reason: 'bench',
  } as const;
  await beginRun(warehouse, run);
  const pass = {
    connectionId: connection,
    stream: stream.name,
    kind: 'sync',
    part: '',
    runId,
    lease: runId,
    token: 'bench',
  } as const;
  await warehouse.pool.query(`update sync.runs set proved_token = 'bench' where run_id = $1`, [runId]);
  await takePass(warehouse, { pass, resource, lookbackMilliseconds: 0 });
  const api = createApiClient({
    baseUrl: servers.apiUrl,
    clientId: 'bench',
    clientSecret: 'bench',
    version: '2023-03-14',
    budget: openApiBudget(warehouse, {
      apiAddress: servers.apiUrl,
      clientId: 'bench',
      requestsPer10s: 1_000_000,
    }),
  });
  const reading = {
    accessToken: billsToken({ bills, name: connection, changed: 0, revision: 0 }),
    ...listOfStream(listed, everything),
    cursor: null,
    findHeld: createFindHeld(warehouse, { connectionId: connection, resource }),
  };
  const started = performance.now();
  const pages = readPages(api, reading, async ({ records, servedAt, nextCursor }, cursor) => ({
    cursor,
    page: await preparePage(resource, records),
    servedAt,
    nextCursor,
  }));
  for await (const page of pages)
    await landPage(warehouse, {
      pass,
      resource,
      requests: 1,
      heardAt: null,
      lookbackMilliseconds: 0,
      ...page,
    });
  const seconds = (performance.now() - started) / 1000;
  await api.close();
  return seconds;
}

const everything = { floorMilliseconds: null, ceilingMilliseconds: null, expandPlatformData: false };
