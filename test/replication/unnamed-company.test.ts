import { describe, expect, test } from 'vitest';
import { addConnection, RecordsKept } from '../../warehouse/connections/add-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { setToken } from '../../warehouse/connections/set-token.ts';
import { secretKey } from '../simulation/create-dependencies.ts';
import { subscription } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { page, type Answer, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

// A platform that offers only subscriptions, whose list need not name its company (API document 4.5).
const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

describe('a company that no list of its platform names', () => {
  test.each(['sync', 'tick', 'reconcile'] as const)('is copied by a %s', async (run) => {
    const service = await serveUnnamed();
    expect(await service[run](['subscriptions'])).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('subscriptions')).toEqual(['s-a', 's-b']);
  });

  test('is copied by a backfill, and may have an empty list', async () => {
    const service = await serveUnnamed();
    const days = { from: '2024-01-01', to: '2024-02-20' };
    expect(await service.backfill(['subscriptions'], days)).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('subscriptions')).toEqual(['s-a', 's-b']);
    const empty = await serveUnnamed();
    empty.lists.subscriptions = [];
    expect(await empty.sync(['subscriptions'])).toMatchObject({ status: 'succeeded' });
  });

  test('loses records missing from its list after a reconcile that lists twice', async () => {
    const service = await serveUnnamed();
    service.lookbackMilliseconds = 0;
    await service.sync(['subscriptions']);
    service.lists.subscriptions = [subscription('s-a')];
    await service.reconcile(['subscriptions']);
    expect(await service.ids('subscriptions')).toEqual(['s-a']);
  });

  test('takes 6 requests to check its name, even if its list has 8 pages', async () => {
    const service = await serveUnnamed();
    const list = service.onList;
    const pages = 8;
    service.onList = (resource, query) => {
      if (resource !== 'subscriptions') return list(resource, query);
      const place = Number(query.get('cursor') ?? 0);
      const next = place + 1 < pages ? String(place + 1) : null;
      return unnamed([subscription(`s-${place}`)], next);
    };
    expect(await service.sync(['subscriptions'])).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('subscriptions')).toHaveLength(pages);
    expect(service.requests.filter((url) => /limit=1(&|$)/.test(url))).toHaveLength(6);
  });

  test('is pinned by the first response that names it, and must be named from then on', async () => {
    const service = await serveUnnamed();
    await service.sync(['subscriptions']);
    const list = service.onList;
    service.onList = (resource) =>
      resource === 'subscriptions' ? page(service, resource, [subscription('s-c')]) : noList;
    expect(await service.sync(['subscriptions'])).toMatchObject({ status: 'succeeded' });
    expect(await readPinned(service)).toBe(`svc-${service.connection}`);
    service.onList = list;
    service.lists.subscriptions = [subscription('s-d')];
    expect(await service.sync(['subscriptions'])).toMatchObject({
      status: 'failed',
      streams: expect.arrayContaining([
        expect.objectContaining({ stream: 'subscriptions', failure_type: 'CompanyUnnamed' }),
      ]) as unknown,
    });
    expect(await service.ids('subscriptions')).toEqual(['s-a', 's-b', 's-c']);
  });

  test('cannot be re-added under its name while its records are kept', async () => {
    const service = await serveUnnamed();
    const { connection: connectionId, url: apiAddress } = service;
    await service.sync(['subscriptions']);
    await removeConnection(warehouse, { connectionId, keepData: true });
    const again = { connectionId, apiAddress, token: 'of anybody', expandPlatformData: false };
    await expect(addConnection(warehouse, secretKey, again)).rejects.toThrow(RecordsKept);
    await removeConnection(warehouse, { connectionId, keepData: false });
    await addConnection(warehouse, secretKey, again);
    expect(await service.sync(['subscriptions'])).toMatchObject({ status: 'succeeded' });
  });
});

describe('a token alone does not prove the company', () => {
  test('for a removed connection whose records are kept and whose company is known', async () => {
    const service = await serveUnnamed();
    const { connection: connectionId, url: apiAddress } = service;
    const list = service.onList;
    service.onList = (resource) =>
      resource === 'subscriptions' ? page(service, resource, [subscription('s-a')]) : noList;
    await service.sync(['subscriptions']);
    await removeConnection(warehouse, { connectionId, keepData: true });
    await addConnection(warehouse, secretKey, {
      connectionId,
      apiAddress,
      token: 'of anybody',
      expandPlatformData: false,
    });
    service.onList = list;
    expect(await service.sync(['subscriptions'])).toMatchObject({ status: 'failed' });
    expect(await service.ids('subscriptions')).toEqual(['s-a']);
  });

  test('when a list that must name the company does not', async () => {
    const service = await serveUnnamed();
    const one = service.onOne;
    const bills: Answer = { status: 200, body: '{"bills":[],"next_cursor":null}' };
    service.onOne = (resource) => (resource === 'bills' ? bills : one(resource));
    expect(await service.sync(['subscriptions'])).toMatchObject({ status: 'failed' });
    expect(await service.ids('subscriptions')).toEqual([]);
  });

  test('once it was replaced, and its responses do not land', async () => {
    const service = await serveUnnamed();
    const { connection: connectionId } = service;
    const list = service.onList;
    let replaced = false;
    service.onList = async (resource, query) => {
      if (resource === 'subscriptions' && !replaced) {
        replaced = true;
        await setToken(warehouse, secretKey, { connectionId, token: 'another' });
        return unnamed([subscription('s-of-the-old')]);
      }
      return list(resource, query);
    };
    expect(await service.sync(['subscriptions'])).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('subscriptions')).toEqual(['s-a', 's-b']);
  });
});

const noList: Answer = { status: 404, body: '{}' };

function unnamed(records: readonly string[], next: string | null = null): Answer {
  return {
    status: 200,
    body: `{"subscriptions":[${records.join(',')}],"next_cursor":${JSON.stringify(next)}}`,
  };
}

async function serveUnnamed(): Promise<ScriptedService> {
  const service = await serve();
  service.lists = { subscriptions: [subscription('s-a'), subscription('s-b')] };
  const answer = (resource: string): Answer =>
    resource === 'subscriptions' ? unnamed(service.lists.subscriptions ?? []) : noList;
  service.onList = answer;
  service.onOne = answer;
  return service;
}

async function readPinned(service: ScriptedService): Promise<unknown> {
  const [found] = await service.rows(
    'select service_connection_id from sync.connections where connection_id = $1',
  );
  return found?.service_connection_id;
}
