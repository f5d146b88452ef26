import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { checkApi } from '../../cli/doctor/api-checks.ts';
import { checkNode } from '../../cli/doctor/host-checks.ts';
import { checkFairness } from '../../cli/doctor/temporal-checks.ts';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { createSandboxAdmin } from '../support/sandbox-admin.ts';
import { addTestConnection, testApiAddress, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

test.each(['18.20.1', '20.18.3'])(
  'doctor refuses Node %s, which is older than package.json allows',
  (version) => {
    expect(() => checkNode(version)).toThrow(`${version} is too old: Daybook needs Node 20.19 or newer.`);
  },
);

test.each(['20.19.0', '22.1.0', '24.0.0'])('doctor accepts Node %s', (version) => {
  expect(checkNode(version)).toBe(version);
});

test('doctor warns of a Temporal version without fairness, and does not claim to know if fairness is on', () => {
  const server = { isEmbedded: false };
  expect(checkFairness('1.28.4', server).problems).toEqual([
    'version 1.28.4 has none, so a large company may hold up small ones: upgrade Temporal to 1.29 or newer',
  ]);
  for (const version of ['1.29.0', '1.31.2-cloud', ''])
    expect(checkFairness(version, server).problems).toEqual([
      expect.stringContaining('does not say whether it is on: set matching.enableFairness to true'),
    ]);
  expect(checkFairness('1.31.2', { isEmbedded: true })).toEqual({
    problems: [],
    allWell: 'on: workers take turns among connections',
  });
});

describe('doctor checks the finance API', () => {
  const clientSecret = 'planted-client-secret';
  const sandboxAt = startSandbox({ records: 100, clientSecret });
  let warehouse: Warehouse;

  beforeEach(async () => {
    ({ warehouse } = await createTestDatabase());
  });
  afterAll(async () => {
    await (await sandboxAt).close();
  });

  test('without connections: it refuses an invented token, and the credentials are not checked', async () => {
    const { url } = await sandboxAt;
    expect(await check(url)).toBe(
      `${url} refuses an invented access token (401, INVALID_CREDENTIALS), as the finance API does. There are no connections yet, so the credentials and the path of the address are not checked`,
    );
  });

  test('without connections of this address: names one of another address', async () => {
    const { url } = await sandboxAt;
    await addTestConnection(warehouse, 'acme-us');
    expect(await check(url)).toContain(
      `No connection was added under this address (acme-us: ${testApiAddress}), so the credentials`,
    );
  });

  test('a platform without bills has another list that answers', async () => {
    const { url, adminUrl } = await sandboxAt;
    const accessToken = 'token-of-shop';
    await createSandboxAdmin(adminUrl).execute({
      kind: 'add-connection',
      name: 'shop',
      platform: 'STRIPE',
      records: 100,
      accessToken,
    });
    await add('shop', url, accessToken);
    expect(await check(url)).toBe(`${url} accepts the credentials of 1 connection`);
  });

  test.each([
    ['a web page', 404, '<!doctype html><h1>Not found</h1>'],
    ['JSON of something else', 404, '{"message":"Not found"}'],
    ['the error of the API for a path that it does not have', 404, '{"error_code":"NOT_SUPPORTED"}'],
  ])('an address that answers every list with %s is wrong', async (_, status, body) => {
    const url = await serve(status, body);
    await expect(check(url)).rejects.toThrow(
      `${url} does not answer like the finance API: it answers 404 to an invented access token, not 401. Check DAYBOOK_API_URL, which in production ends with /versioned`,
    );
    await add('acme', url, 'planted-token');
    await expect(check(url)).rejects.toThrow(
      /^acme: every list answers 404\. Check DAYBOOK_API_URL, which in production ends with \/versioned$/,
    );
  });

  test('a page with status 200 is not an answer of the API', async () => {
    const url = await serve(200, '<!doctype html><h1>Welcome</h1>');
    await expect(check(url)).rejects.toThrow('check DAYBOOK_API_URL and any proxy in between');
  });

  test('an address where nothing listens is named, with and without connections', async () => {
    const sentence =
      'http://127.0.0.1:9 does not answer (ECONNREFUSED): check DAYBOOK_API_URL, and that this host reaches it';
    await expect(check('http://127.0.0.1:9')).rejects.toThrow(sentence);
    await add('acme', 'http://127.0.0.1:9', 'planted-token');
    await expect(check('http://127.0.0.1:9')).rejects.toThrow(`acme: ${sentence}`);
  });

  function check(url: string): Promise<string> {
    const version = '2023-03-14';
    const api = { address: url, url, clientId: 'sandbox-client', clientSecret, version, requestsPer10s: 450 };
    return checkApi(warehouse, { api, secretKey: () => Promise.resolve(testKey) });
  }

  function add(connectionId: string, apiAddress: string, token: string): Promise<unknown> {
    return addConnection(warehouse, testKey, { connectionId, apiAddress, token, expandPlatformData: false });
  }
});

async function serve(status: number, body: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
