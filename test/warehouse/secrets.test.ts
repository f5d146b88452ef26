import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { OtherWorld, readAccess } from '../../warehouse/connections/read-access.ts';
import { setToken } from '../../warehouse/connections/set-token.ts';
import { KeyRotated, UnknownConnection, WrongSecretKey } from '../../warehouse/errors.ts';
import { checkSecretKey } from '../../warehouse/secrets/check-secret-key.ts';
import { rotateSecretKey } from '../../warehouse/secrets/rotate-secret-key.ts';
import { openToken, sealToken, tokenMarkSql } from '../../warehouse/secrets/sealed-token.ts';
import { row } from '../support/rows.ts';
import { addTestConnection, testApiAddress, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

const apiAddress = testApiAddress;
const held = (key: Buffer) => () => Promise.resolve(key);

test('a token is opened by the key that sealed it', () => {
  const sealed = sealToken(testKey, { connectionId: 'acme', token: 'tökén' });
  expect(openToken(testKey, { connectionId: 'acme', sealed })).toBe('tökén');
});

test('a token is sealed differently each time, and its text is not visible', () => {
  const [one, two] = [1, 2].map(() =>
    sealToken(testKey, { connectionId: 'acme', token: 'token-in-the-clear' }),
  );
  expect(one).not.toEqual(two);
  expect(one?.toString('latin1')).not.toContain('token-in-the-clear');
});

test('another key does not open a token', () => {
  const sealed = sealToken(testKey, { connectionId: 'acme', token: 'token' });
  expect(() => openToken(randomBytes(32), { connectionId: 'acme', sealed })).toThrow(WrongSecretKey);
});

test.each(['first', 'last'])('a token whose %s byte was changed does not open', (which) => {
  const sealed = sealToken(testKey, { connectionId: 'acme', token: 'token' });
  const at = which === 'first' ? 0 : sealed.length - 1;
  sealed.writeUInt8(sealed.readUInt8(at) ^ 1, at);
  expect(() => openToken(testKey, { connectionId: 'acme', sealed })).toThrow(WrongSecretKey);
});

test('a sealed token that was cut short does not open', () => {
  const sealed = sealToken(testKey, { connectionId: 'acme', token: 'token' });
  for (const length of [0, 11, 20, 28, sealed.length - 1]) {
    expect(() => openToken(testKey, { connectionId: 'acme', sealed: sealed.subarray(0, length) })).toThrow(
      WrongSecretKey,
    );
  }
});

test('a sealed token moved to another row does not open', async () => {
  const [one, two] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
  await warehouse.pool.query(
    `update sync.connections set token_sealed = (select token_sealed from sync.connections where connection_id = $1)
     where connection_id = $2`,
    [one, two],
  );
  await expect(readAccess(warehouse, held(testKey), { connectionId: two, apiAddress })).rejects.toThrow(
    WrongSecretKey,
  );
  expect(await readAccess(warehouse, held(testKey), { connectionId: one, apiAddress })).toMatchObject({
    token: `token of ${one}`,
  });
});

test('a new token replaces the old one, and the identity stays pinned', async () => {
  const connectionId = await addTestConnection(warehouse);
  await warehouse.pool.query(
    `update sync.connections set service_connection_id = $1 where connection_id = $1`,
    [connectionId],
  );
  await setToken(warehouse, testKey, { connectionId, token: 'new' });
  expect(await readAccess(warehouse, held(testKey), { connectionId, apiAddress })).toEqual({
    token: 'new',
    mark: expect.any(String) as unknown,
    expandPlatformData: false,
  });
  expect(
    await row(warehouse, 'select service_connection_id from sync.connections where connection_id = $1', [
      connectionId,
    ]),
  ).toEqual({ service_connection_id: connectionId });
});

test('a token is only opened for the API address it was added under', async () => {
  const connectionId = await addTestConnection(warehouse);
  const elsewhere = readAccess(warehouse, held(testKey), {
    connectionId,
    apiAddress: 'https://elsewhere.example.com',
  });
  await expect(elsewhere).rejects.toThrow(OtherWorld);
});

test('the token of a connection that does not exist is neither read nor set', async () => {
  const connectionId = 'nobody';
  await expect(readAccess(warehouse, held(testKey), { connectionId, apiAddress })).rejects.toThrow(
    UnknownConnection,
  );
  await expect(setToken(warehouse, testKey, { connectionId, token: 'new' })).rejects.toThrow(
    UnknownConnection,
  );
});

test('the first key used with a warehouse becomes its key, and another is refused', async () => {
  await checkSecretKey(warehouse, testKey);
  await checkSecretKey(warehouse, testKey);
  await expect(checkSecretKey(warehouse, randomBytes(32))).rejects.toThrow(WrongSecretKey);
  const { value } = await row(
    warehouse,
    `select value from sync.settings where name = 'secret_key_fingerprint'`,
  );
  expect(value).toMatch(/^[0-9a-f]{16}$/);
});

test('a rotation leaves only the new key able to open tokens, and the old key is reported as rotated', async () => {
  const { warehouse: other } = await createTestDatabase();
  const [one, two] = [await addTestConnection(other), await addTestConnection(other)];
  const to = randomBytes(32);
  expect(await rotateSecretKey(other, { from: testKey, to })).toEqual({ resealed: 2 });
  for (const connectionId of [one, two]) {
    expect(await readAccess(other, held(to), { connectionId, apiAddress })).toMatchObject({
      token: `token of ${connectionId}`,
    });
    await expect(readAccess(other, held(testKey), { connectionId, apiAddress })).rejects.toThrow(KeyRotated);
  }
  expect(await rotateSecretKey(other, { from: testKey, to })).toEqual({ resealed: 0 });
  await expect(rotateSecretKey(other, { from: testKey, to: randomBytes(32) })).rejects.toThrow(
    WrongSecretKey,
  );
});

test('a refused token stays refused under its new seal, and another one is not refused by it', async () => {
  const { warehouse: other } = await createTestDatabase();
  const [refused, replaced] = [await addTestConnection(other), await addTestConnection(other)];
  await other.pool.query(
    `update sync.connections set refused_token = case connection_id when $1 then ${tokenMarkSql} else 'an earlier one' end`,
    [refused],
  );
  await rotateSecretKey(other, { from: testKey, to: randomBytes(32) });
  const { rows } = await other.pool.query(
    `select connection_id, refused_token = ${tokenMarkSql} as refused, refused_token from sync.connections order by connection_id = $1 desc`,
    [refused],
  );
  expect(rows).toMatchObject([
    { connection_id: refused, refused: true },
    { connection_id: replaced, refused: false, refused_token: 'an earlier one' },
  ]);
});

test('a rotation that meets a token it cannot open changes nothing', async () => {
  const { warehouse: other } = await createTestDatabase();
  const [one, damaged] = [await addTestConnection(other), await addTestConnection(other)];
  await other.pool.query(`update sync.connections set token_sealed = '\\x00' where connection_id = $1`, [
    damaged,
  ]);
  const rotated = rotateSecretKey(other, { from: testKey, to: randomBytes(32) });
  await expect(rotated).rejects.toThrow(WrongSecretKey);
  expect(await readAccess(other, held(testKey), { connectionId: one, apiAddress })).toMatchObject({
    token: `token of ${one}`,
  });
});

test('a rotation at the same moment as a new token loses neither', async () => {
  const { warehouse: other } = await createTestDatabase();
  const connectionId = await addTestConnection(other);
  const to = randomBytes(32);
  const [rotated, set] = await Promise.allSettled([
    rotateSecretKey(other, { from: testKey, to }),
    setToken(other, testKey, { connectionId, token: 'new' }),
  ]);
  expect(rotated.status).toBe('fulfilled');
  const { token } = await readAccess(other, held(to), { connectionId, apiAddress });
  expect(token).toBe(set.status === 'fulfilled' ? 'new' : `token of ${connectionId}`);
});
