import { randomUUID } from 'node:crypto';
import { ScheduleNotFoundError } from '@temporalio/client';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { insertClaim, proposeToken, readClaim } from '../../warehouse/ownership/namespace-claims.ts';
import { readServerFacts } from '../../warehouse/ownership/server-facts.ts';
import { warehouseId } from '../../warehouse/warehouse-id.ts';
import { checkOwnership } from '../../operations/ownership/check-ownership.ts';
import { claimNamespace } from '../../worker/ownership/claim-namespace.ts';
import { deleteReplacedSchedules } from '../../worker/ownership/delete-replaced-schedules.ts';
import { NamespaceNotOurs } from '../../operations/ownership/namespace-not-ours.ts';
import type { OwnerRecord } from '../../operations/ownership/owner-record.ts';
import { scheduleIds } from '../../temporal/schedule-ids.ts';
import { readOwner } from '../../operations/ownership/owner-schedule.ts';
import type { OwnershipPlaces } from '../../operations/ownership/places.ts';
import { readOwnership } from '../../operations/ownership/read-ownership.ts';
import { watchOwnership } from '../../worker/ownership/watch-ownership.ts';
import { eventually } from '../support/eventually.ts';
import { proofTest } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';

const first = await createTestDatabase();
const second = await createTestDatabase();

test('the first worker claims a namespace, the next one continues the claim, and the password stays out of it', async () => {
  const places = await together(first);
  const claimed = await claim(places);
  const again = await claim(places);
  expect(again).toMatchObject({ claim: claimed.claim, generation: claimed.generation + 1, replaced: [] });
  expect(again.token).not.toBe(claimed.token);
  const { password } = new URL(first.url);
  const schedule = await places.temporal.schedule.getHandle(scheduleIds.owner).describe();
  expect(schedule.state).toMatchObject({
    paused: true,
    note: expect.stringContaining(claimed.warehouse) as unknown,
  });
  expect(JSON.stringify(schedule.action)).not.toContain(password);
  await check(places);
});

test('a namespace of another warehouse is refused with a message that names the owner and the remedy', async () => {
  const places = await together(first);
  const owner = await claim(places);
  const other = { ...places, ...of(second) };
  const name = new URL(first.url).pathname.slice(1);
  const sentence = new RegExp(
    `belongs to warehouse ${owner.warehouse.slice(0, 8)} \\(database .*/${name}, API sandbox\\) since .* UTC.*--take-over`,
  );
  await expect(claim(other)).rejects.toThrow(sentence);
  await expect(check(other)).rejects.toThrow(sentence);
  expect((await readOwnership(other)).trouble).toMatch(sentence);
  expect(await ownerOf(places)).toEqual(owner);
});

test('workers of one warehouse that start at once make one claim, and none is refused', async () => {
  const places = await together(first);
  const claimed = await Promise.all(Array.from({ length: 6 }, () => claim(places)));
  expect(new Set(claimed.map((record) => record.claim)).size).toBe(1);
  const { claim: claimId } = claimed[0] ?? expect.fail();
  expect(await readClaim(first.warehouse, claimId)).toMatchObject({ next_token: null });
  await check(places);
});

test('only one of two warehouses whose workers start at once owns the namespace, and the other is refused', async () => {
  const places = await together(first);
  const started = await Promise.allSettled([claim(places), claim({ ...places, ...of(second) })]);
  expect(started.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = started.find((one) => one.status === 'rejected');
  expect(refused?.reason).toBeInstanceOf(NamespaceNotOurs);
});

proofTest('a worker killed before its claim reached the namespace does not block the next one', async () => {
  const places = await together(first);
  await insertClaim(first.warehouse, { claim_id: randomUUID(), token: randomUUID() });
  await claim(places);
});

proofTest(
  'a worker killed between the two writes of a token leaves a claim that the next one continues',
  async () => {
    const places = await together(first);
    const { claim: claimId, token } = await claim(places);
    const next = await proposeToken(first.warehouse, { claimId, token, next: 'noted' });
    expect(next).toBe('noted');
    await check(places);
    // Killed before the claim was confirmed: the namespace has the new token already.
    const found = await readOwner(places.temporal);
    await found?.replace({ ...found.record, token: 'noted', generation: found.record.generation + 1 });
    await check(places);
    expect(await claim(places)).toMatchObject({ claim: claimId });
    expect(await readClaim(first.warehouse, claimId)).toMatchObject({ next_token: null });
  },
);

proofTest('a record replaced twice at once keeps the first replacement only', async () => {
  const places = await together(first);
  await claim(places);
  const found = (await readOwner(places.temporal)) ?? expect.fail();
  await found.replace({ ...found.record, token: 'the first' });
  // A server that gets both at once takes the last one, never both.
  await eventually(async () => ((await ownerOf(places)).token === 'the first' ? true : undefined));
  await found.replace({ ...found.record, token: 'the second' });
  expect(await ownerOf(places)).toMatchObject({ token: 'the first' });
});

test('a clone of the database is refused, and so is the original once the clone has taken over', async () => {
  const { places, clone } = await cloned();
  await expect(claim(clone)).rejects.toThrow(/is a copy of it/);
  await expect(check(clone)).rejects.toThrow(/is a copy of it/);
  const taken = await claim(clone, { takeOver: true });
  await check(clone);
  await expect(claim(places)).rejects.toThrow(/is another state of it/);
  expect(taken.replaced).toEqual([]);
  await claim(places, { takeOver: true });
  await expect(check(clone)).rejects.toThrow(NamespaceNotOurs);
});

proofTest('a clone may have another namespace of its own', async () => {
  const { clone } = await cloned();
  const { client } = await createTestNamespace();
  await claim({ ...clone, temporal: client });
});

test('a database older than the namespace is refused', async () => {
  const places = await together(first);
  const { claim: claimId, token, generation } = await claim(places);
  await claim(places);
  await first.warehouse.pool.query(
    `update sync.namespace_claims set token = $2, generation = $3 where claim_id = $1`,
    [claimId, token, generation],
  );
  await expect(claim(places)).rejects.toThrow(/is another state of it: a restored backup/);
  await expect(check(places)).rejects.toThrow(NamespaceNotOurs);
  await claim(places, { takeOver: true });
  await check(places);
});

proofTest('a namespace older than the database, after a power cut, is brought forward', async () => {
  const places = await together(first);
  await claim(places);
  const before = (await readOwner(places.temporal)) ?? expect.fail();
  await claim(places);
  const found = (await readOwner(places.temporal)) ?? expect.fail();
  await found.replace(before.record);
  await check(places);
  expect((await claim(places)).generation).toBe(found.record.generation + 1);
  await check(places);
});

proofTest('another API address is a different environment', async () => {
  const places = await together(first);
  await claim(places);
  const api = {
    ...settingsOf(first).api,
    address: 'https://api.example.com',
    url: 'https://api.example.com',
  };
  const elsewhere = { ...places, settings: { ...places.settings, api } };
  await expect(claim(elsewhere)).rejects.toThrow(
    /API sandbox\) .*runs with the API address https:\/\/api\.example\.com/,
  );
  expect(await claim(elsewhere, { takeOver: true })).toMatchObject({ api: 'https://api.example.com' });
  await expect(claim(places)).rejects.toThrow(NamespaceNotOurs);
});

proofTest(
  'a process without an API address is accepted for the warehouse that owns the namespace',
  async () => {
    const places = await together(first);
    await claim(places);
    const api = { ...settingsOf(first).api, url: '' };
    await check({ ...places, settings: { ...places.settings, api } });
  },
);

proofTest('a namespace of 0.5.0 with schedules of this warehouse is claimed', async () => {
  const places = await together(first);
  await schedule(places, { id: 'sync/acme-us', warehouse: await warehouseId(first.warehouse) });
  await claim(places);
  expect(await exists(places, 'sync/acme-us')).toBe(true);
});

proofTest(
  'a namespace of 0.5.0 with schedules of another warehouse is refused until it is taken over',
  async () => {
    const places = await together(first);
    await schedule(places, { id: 'sync/of-theirs', warehouse: 'theirs' });
    const sentence = /has schedules of another warehouse \(sync\/of-theirs\).*--take-over/;
    await eventually(async () => ((await readOwnership(places)).trouble === null ? undefined : true));
    await expect(claim(places)).rejects.toThrow(sentence);
    await expect(check(places)).rejects.toThrow(sentence);
    const record = await claim(places, { takeOver: true });
    expect(record.replaced).toEqual(['theirs']);
  },
);

test('a takeover deletes the schedules of the previous owner, and of nobody else', async () => {
  const places = await together(first);
  await claim(places);
  const other = { ...places, ...of(second) };
  await schedule(places, { id: 'sync/of-the-first', warehouse: await warehouseId(first.warehouse) });
  await schedule(places, { id: 'sync/of-the-second', warehouse: await warehouseId(second.warehouse) });
  await schedule(places, { id: 'sync/of-a-third', warehouse: 'a third' });
  await schedule(places, { id: 'of-somebody', warehouse: undefined });
  const record = await claim(other, { takeOver: true });
  await eventually(async () => {
    await deleteReplacedSchedules(places.temporal, record, { logger: pino({ level: 'silent' }) });
    return (await exists(places, 'sync/of-the-first')) ? undefined : true;
  });
  for (const id of ['sync/of-the-second', 'sync/of-a-third', 'of-somebody'])
    expect(await exists(places, id)).toBe(true);
});

test('a worker notices when its namespace is taken over', async () => {
  const places = await together(first);
  await claim(places);
  // Awaited from the start, because it may notice before the other one has finished.
  const refused = expect(watch(places).done).rejects.toThrow(/belongs to warehouse/);
  await claim({ ...places, ...of(second) }, { takeOver: true });
  await refused;
});

test('a worker answers a question in the owner record by renewing its token', async () => {
  const places = await together(first);
  await claim(places);
  const watched = watch(places);
  const found = (await readOwner(places.temporal)) ?? expect.fail();
  await found.replace({ ...found.record, asks: 'is anybody there' });
  const answered = await eventually(async () => {
    const now = await ownerOf(places);
    return now.asks === undefined ? now : undefined;
  });
  expect(answered.token).not.toBe(found.record.token);
  await check(places);
  await watched.stop();
});

proofTest('a worker claims the namespace again when the owner schedule was deleted', async () => {
  const places = await together(first);
  const before = await claim(places);
  const watched = watch(places);
  await places.temporal.schedule.getHandle(scheduleIds.owner).delete();
  const again = await eventually(async () => (await readOwner(places.temporal))?.record);
  expect(again.claim).not.toBe(before.claim);
  await check(places);
  await watched.stop();
});

proofTest('a worker restores the last token after a failover of its database lost it', async () => {
  const places = await together(first);
  await claim(places);
  const watched = watch(places);
  const known = await eventually(async () => {
    const found = await readOwner(places.temporal);
    const claimed = found && (await readClaim(first.warehouse, found.record.claim));
    return claimed && { found, claimed };
  });
  // The worker's first look is over once it has answered.
  await known.found.replace({ ...known.found.record, asks: 'are you there' });
  const answered = await eventually(async () => {
    const now = await ownerOf(places);
    return now.asks === undefined ? now : undefined;
  });
  await eventually(async () => {
    const claimed = await readClaim(first.warehouse, answered.claim);
    return claimed?.token === answered.token ? true : undefined;
  });
  await first.warehouse.pool.query(
    `update sync.namespace_claims set token = $2, generation = $3, next_token = null where claim_id = $1`,
    [answered.claim, known.found.record.token, known.found.record.generation],
  );
  await eventually(async () => {
    const claimed = await readClaim(first.warehouse, answered.claim);
    return claimed?.token === answered.token ? true : undefined;
  });
  await watched.stop();
});

test('the server facts sent to Temporal are readable for an ordinary database owner', async () => {
  const { system, database, started } = await readServerFacts(first.warehouse.pool);
  expect([system, database, started].every((fact) => /^[\d.]+$/.test(fact ?? ''))).toBe(true);
  const [role] = await rows(first.warehouse, 'select usesuper from pg_user where usename = current_user');
  expect(role).toEqual({ usesuper: false });
});

/** A separate namespace for each test. */
async function together(database: TestDatabase): Promise<OwnershipPlaces> {
  const { client } = await createTestNamespace();
  return { ...of(database), temporal: client };
}

function of(database: TestDatabase): Pick<OwnershipPlaces, 'warehouse' | 'settings'> {
  return { warehouse: database.warehouse, settings: settingsOf(database) };
}

function settingsOf({ url }: TestDatabase): OwnershipPlaces['settings'] {
  return {
    database: { url, directUrl: url, connections: 2 },
    temporal: { namespace: 'under-test', connection: { address: '127.0.0.1:7233' }, ui: undefined },
    api: {
      address: 'sandbox',
      url: 'http://127.0.0.1:1',
      clientId: '',
      clientSecret: '',
      version: '2023-03-14',
      requestsPer10s: 450,
    },
  };
}

function claim(places: OwnershipPlaces, { takeOver = false } = {}): Promise<OwnerRecord> {
  return claimNamespace(places, { takeOver, say: () => undefined });
}

function check(places: OwnershipPlaces): Promise<void> {
  return checkOwnership(places, { say: () => undefined });
}

async function ownerOf({ temporal }: OwnershipPlaces): Promise<OwnerRecord> {
  return (await readOwner(temporal))?.record ?? expect.fail();
}

/** The original is a copy too, because others use the first database. */
async function cloned(): Promise<{ places: OwnershipPlaces; clone: OwnershipPlaces }> {
  const original = await createTestDatabase();
  const places = await together(original);
  await claim(places);
  await original.warehouse.close();
  const copy = await createTestDatabase(`template ${new URL(original.url).pathname.slice(1)}`);
  const { openWarehouse } = await import('../../warehouse/open-warehouse.ts');
  const warehouse = openWarehouse({ url: original.url, connections: 2 });
  return { places: { ...places, warehouse }, clone: { ...places, ...of(copy) } };
}

async function schedule(
  { temporal }: OwnershipPlaces,
  { id, warehouse }: { id: string; warehouse: string | undefined },
): Promise<void> {
  await temporal.schedule.create({
    scheduleId: id,
    spec: { intervals: [{ every: '1 day' }] },
    action: { type: 'startWorkflow', workflowType: 'scheduledStart', taskQueue: 'daybook', args: [] },
    ...(warehouse === undefined ? {} : { memo: { daybook: warehouse, connection: id.slice(5) } }),
  });
  await eventually(async () => {
    for await (const { scheduleId } of temporal.schedule.list()) if (scheduleId === id) return true;
    return undefined;
  });
}

async function exists({ temporal }: OwnershipPlaces, id: string): Promise<boolean> {
  try {
    await temporal.schedule.getHandle(id).describe();
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}

function watch(places: OwnershipPlaces): { done: Promise<void>; stop: () => Promise<void> } {
  const stopping = new AbortController();
  const done = watchOwnership(places, {
    isWorker: true,
    logger: pino({ level: 'silent' }),
    stopping: stopping.signal,
    everyMilliseconds: 100,
  });
  return {
    done,
    async stop() {
      stopping.abort();
      await done;
    },
  };
}
