import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { setToken } from '../../warehouse/connections/set-token.ts';
import type { ServiceIdentity } from '../../warehouse/connections/pin-identity.ts';
import { proveToken, proveTokenAlone } from '../../warehouse/connections/prove-token.ts';
import { CompanyUnnamed, IdentityChanged, IdentityInUse, TokenNotProved } from '../../warehouse/errors.ts';
import { bill, subscription } from '../support/finance-records.ts';
import { landRecords, readTokenMark, openPass } from '../support/land.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { addTestConnection, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

describe('the company of a connection', () => {
  test('is pinned by the first response that names it', async () => {
    const [connectionId, identity] = [await addTestConnection(warehouse), newIdentity()];
    await landAs(connectionId, undefined);
    expect(await pinnedOf(connectionId)).toEqual({
      service_connection_id: null,
      org_id: null,
      platform: null,
    });
    await landAs(connectionId, identity);
    await landAs(connectionId, identity);
    expect(await pinnedOf(connectionId)).toEqual({
      service_connection_id: identity.id,
      org_id: identity.orgId,
      platform: 'XERO',
    });
  });

  test('may have another platform code later', async () => {
    const [connectionId, identity] = [await addTestConnection(warehouse), newIdentity()];
    await landAs(connectionId, identity);
    await landAs(connectionId, { ...identity, platform: 'XERO_NEXT' });
    expect(await pinnedOf(connectionId)).toMatchObject({
      service_connection_id: identity.id,
      platform: 'XERO_NEXT',
    });
  });

  test.each([
    ['another connection', { id: 'another' }],
    ['another organisation', { orgId: 'another' }],
  ])('may not become %s: nothing of the page is written', async (_, change) => {
    const [connectionId, identity] = [await addTestConnection(warehouse), newIdentity()];
    await landAs(connectionId, identity);
    await expect(landAs(connectionId, { ...identity, ...change }, [bill('b')])).rejects.toThrow(
      IdentityChanged,
    );
    expect(
      await rows(warehouse, 'select from finance.bills where connection_id = $1', [connectionId]),
    ).toEqual([]);
    expect(await pinnedOf(connectionId)).toMatchObject({ service_connection_id: identity.id });
  });

  test('may not be pinned by two connections', async () => {
    const [one, two] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
    const identity = newIdentity();
    await landAs(one, identity);
    await expect(landAs(two, identity)).rejects.toThrow(IdentityInUse);
    await expect(landAs(two, identity)).rejects.toThrow(`${two} opens the same company as ${one}`);
    expect(await pinnedOf(two)).toMatchObject({ service_connection_id: null });
  });

  test('is refused if another connection has pinned it, with a message that says whether the organizations differ', async () => {
    const [squat, real] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
    const identity = newIdentity();
    await landAs(squat, { ...identity, orgId: 'another' });
    await expect(landAs(real, identity)).rejects.toThrow(
      `The service names one company for ${real} and for ${squat}, which reads it already, but two organizations, so one of the answers is wrong.`,
    );
    await expect(landAs(real, { ...identity, orgId: 'another' })).rejects.toThrow(
      `${real} opens the same company as ${squat}, which reads it already,`,
    );
  });

  test('is pinned by only one of two connections that read it at once', async () => {
    const names = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
    const identity = newIdentity();
    const results = await Promise.allSettled(names.map((name) => landAs(name, identity)));
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused.map(({ reason }) => reason as unknown)).toEqual([expect.any(IdentityInUse)]);
  });

  test('may be pinned again under another API address', async () => {
    const [connectionId, identity] = [await addTestConnection(warehouse), newIdentity()];
    const elsewhere = `elsewhere-${randomUUID()}`;
    await addConnection(warehouse, testKey, {
      connectionId: elsewhere,
      apiAddress: 'sandbox',
      token: 'token',
      expandPlatformData: false,
    });
    await landAs(connectionId, identity);
    await landAs(elsewhere, identity);
    expect(await pinnedOf(elsewhere)).toMatchObject({ service_connection_id: identity.id });
  });
});

function newIdentity(): ServiceIdentity {
  return { id: randomUUID(), orgId: randomUUID(), platform: 'XERO' };
}

async function landAs(
  connectionId: string,
  identity: ServiceIdentity | undefined,
  records: readonly string[] = [],
): Promise<unknown> {
  const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
  return landRecords(warehouse, { pass, records, ...(identity && { identity }) });
}

function pinnedOf(connectionId: string): Promise<Row> {
  return row(
    warehouse,
    'select service_connection_id, org_id, platform from sync.connections where connection_id = $1',
    [connectionId],
  );
}

describe('a run lands nothing before a response to its token has named the pinned company', () => {
  test('a response without a company does not count', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    await warehouse.pool.query('update sync.runs set proved_token = null where run_id = $1', [pass.runId]);
    await expect(landRecords(warehouse, { pass, records: [bill('b')] })).rejects.toThrow(TokenNotProved);
    await proveToken(warehouse, { ...pass, identity: newIdentity() });
    expect(await landRecords(warehouse, { pass, records: [bill('b')] })).toMatchObject({ inserted: 1 });
  });

  test('a token of an unnamed company counts until a response names a company, in any run', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'subscriptions' });
    await warehouse.pool.query('update sync.runs set proved_token = null where run_id = $1', [pass.runId]);
    await proveTokenAlone(warehouse, pass);
    expect(await proveToken(warehouse, { ...pass, identity: null })).toBe(true);
    await landRecords(warehouse, { pass, records: [subscription('one')], nextCursor: 'next' });
    await landAs(connectionId, newIdentity());
    expect(await proveToken(warehouse, { ...pass, identity: null })).toBe(false);
    await expect(landRecords(warehouse, { pass, records: [subscription('two')] })).rejects.toThrow(
      TokenNotProved,
    );
    await expect(proveTokenAlone(warehouse, pass)).rejects.toThrow(CompanyUnnamed);
  });

  test('a replaced token does not count for an unnamed company', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'subscriptions' });
    await setToken(warehouse, testKey, { connectionId, token: 'another' });
    await expect(proveTokenAlone(warehouse, pass)).rejects.toThrow(TokenNotProved);
  });

  test('a late response to a replaced token pauses nothing', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landAs(connectionId, newIdentity());
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    const late = { ...pass, token: await readTokenMark(warehouse, connectionId), identity: newIdentity() };
    await setToken(warehouse, testKey, { connectionId, token: 'the right one' });
    await expect(proveToken(warehouse, late)).rejects.toThrow(TokenNotProved);
    expect(
      await row(warehouse, 'select paused_by, refused_token from sync.connections where connection_id = $1', [
        connectionId,
      ]),
    ).toEqual({ paused_by: null, refused_token: null });
  });

  test('a token that has named another company lands nothing in any stream or run', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landAs(connectionId, newIdentity());
    const opened = await openPass(warehouse, { connectionId, stream: 'bills' });
    const pass = { ...opened.pass, token: await readTokenMark(warehouse, connectionId) };
    await expect(proveToken(warehouse, { ...pass, identity: newIdentity() })).rejects.toThrow(
      IdentityChanged,
    );
    await expect(landRecords(warehouse, { pass, records: [bill('b')] })).rejects.toThrow(TokenNotProved);
    const later = await openPass(warehouse, { connectionId, stream: 'bills' });
    const again = { ...later.pass, token: pass.token, identity: null };
    await expect(proveToken(warehouse, again)).rejects.toThrow(IdentityChanged);
    expect(
      await row(
        warehouse,
        'select paused_by, paused_why, refused_token from sync.connections where connection_id = $1',
        [connectionId],
      ),
    ).toMatchObject({
      paused_by: 'daybook',
      paused_why: expect.stringContaining('now opens a different company') as unknown,
      refused_token: pass.token,
    });
  });
});
