import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createApiClient, type ApiClient } from '../../source/api-client.ts';
import { openApiBudget } from '../../warehouse/api-budget/api-budget.ts';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import { proofTest } from '../support/proof-test.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { rows } from '../support/rows.ts';
import { answerJson, billsRequest, startScriptedApi, type ScriptedApi } from './scripted-api.ts';

/** The time that counts is a request's arrival at the service, so the tests use a real HTTP server, and budgets in a real Postgres. */
const { warehouse, url } = await createTestDatabase();
const other = openWarehouse({ url, connections: 5 });
afterAll(() => other.close());

proofTest(
  'the API budget limits the arrivals from hundreds of callers when a slow service turns fast',
  async () => {
    const limit = 80;
    const api = await startSlowThenFast(13_000);
    const client = openClient({ api, clientId: randomUUID(), limit });
    await Promise.all(Array.from({ length: 220 }, () => client.list(billsRequest)));
    expect(api.arrivals).toHaveLength(220);
    expect(mostInAnyWindow(api.arrivals)).toBeLessThanOrEqual(limit);
  },
);

test('the API budget limits the arrivals from two processes together when a slow service turns fast', async () => {
  const limit = 100;
  const api = await startSlowThenFast(13_000);
  const clientId = randomUUID();
  const clients = [
    openClient({ api, clientId, limit }),
    openClient({ api, clientId, limit, of: other }),
  ] as const;
  await Promise.all(
    clients.map((client) => Promise.all(Array.from({ length: 130 }, () => client.list(billsRequest)))),
  );
  expect(api.arrivals).toHaveLength(260);
  expect(mostInAnyWindow(api.arrivals)).toBeLessThanOrEqual(limit);
});

test('a request whose grant expires while its connection opens takes another grant and uses that connection', async () => {
  const api = await startSlowThenFast(0);
  const clientId = randomUUID();
  const dispatcher = connectingIn(1_500);
  const client = openClient({ api, clientId, limit: 10, dispatcher });
  await client.list(billsRequest);
  await client.list(billsRequest);
  expect(api.connections()).toBe(1);
  const grants = await rows(
    warehouse,
    `select extract(epoch from clock_timestamp() - granted_at)::float8 as age from sync.api_grants
     where budget = (select budget from sync.api_grants order by granted_at desc limit 1)
     order by granted_at desc`,
  );
  // The grant that was too old, and one for each request.
  expect(grants).toHaveLength(3);
  expect((grants[2]?.age as number) - (grants[1]?.age as number)).toBeGreaterThan(1.4);
});

test('a request aborted while it waits for a free connection ends, and takes nothing from the budget', async () => {
  const api = await startSlowThenFast(5_000);
  const client = openClient({ api, clientId: randomUUID(), limit: 600 });
  const grantsBefore = await countGrants();
  const holding = Array.from({ length: 256 }, () => client.list(billsRequest));
  await api.arrival(256);
  const stop = new AbortController();
  const reason = new Error('enough');
  const waiting = client.list({ ...billsRequest, signal: stop.signal });
  const after = client.list(billsRequest);
  stop.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(await countGrants()).toBe(grantsBefore + 256);
  await Promise.all([...holding, after]);
  expect(api.arrivals).toHaveLength(257);
});

async function countGrants(): Promise<number> {
  return (await rows(warehouse, 'select from sync.api_grants')).length;
}

interface SlowThenFast extends ScriptedApi {
  /** The arrival time of each request, in milliseconds. */
  readonly arrivals: readonly number[];
}

/** Holds every answer until the server has been up for so long, and then answers at once. */
async function startSlowThenFast(milliseconds: number): Promise<SlowThenFast> {
  const arrivals: number[] = [];
  const fast = pause(milliseconds, undefined, { ref: false });
  const api = await startScriptedApi((_, response) => {
    arrivals.push(performance.now());
    void fast.then(() => {
      answerJson(response, { bills: [] });
    });
  });
  return { ...api, arrivals };
}

/** A client that requests as one process of the organization does. */
function openClient({
  api,
  clientId,
  limit,
  of = warehouse,
  dispatcher,
}: {
  api: ScriptedApi;
  clientId: string;
  limit: number;
  of?: Warehouse;
  dispatcher?: Dispatcher;
}): ApiClient {
  const client = createApiClient({
    baseUrl: api.url,
    clientId,
    clientSecret: 'secret',
    version: '2023-03-14',
    budget: openApiBudget(of, { apiAddress: api.url, clientId, requestsPer10s: limit }),
    ...(dispatcher === undefined ? {} : { dispatcher }),
  });
  onTestFinished(() => client.close());
  return client;
}

/** Makes connections take so long to open. */
function connectingIn(milliseconds: number): Dispatcher {
  const connector = buildConnector({});
  const agent = new Agent({
    connections: 64,
    connect: (options, callback) => {
      setTimeout(() => {
        connector(options, callback);
      }, milliseconds);
    },
  });
  onTestFinished(() => agent.close());
  return agent;
}

function mostInAnyWindow(times: readonly number[]): number {
  return Math.max(
    ...times.map((start) => times.filter((time) => time >= start && time < start + 10_000).length),
  );
}
