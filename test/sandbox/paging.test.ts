import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import { createSandboxAdmin } from '../support/sandbox-admin.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import { createSandboxApi, recordsOf } from './sandbox-api.ts';
import type { Page, SandboxApi, SandboxRecord } from './sandbox-api.ts';

let sandbox: Sandbox;
let api: SandboxApi;
let admin: SandboxAdmin;

beforeAll(async () => {
  sandbox = await startSandbox({ records: 1_000, seed: 3 });
  api = createSandboxApi(sandbox);
  admin = createSandboxAdmin(sandbox.adminUrl);
  await admin.configure({ requestsPer10s: 100_000 });
});
afterAll(() => sandbox.close());

const bills = '/accounting/bills';

describe('a list', () => {
  test.each([
    'last_synced_at ASC',
    'last_synced_at DESC',
    'updated_at ASC',
    'updated_at DESC',
    'updated_at',
    null,
  ])('sorted by %s returns every record once, in order, whatever the page size', async (sort) => {
    const content = await admin.content('acme-us', 'bills');
    for (const limit of ['7', '50', '500']) {
      const records = await api.readAll(bills, { sort, limit });
      expect(records.map((record) => record.id).sort()).toEqual(content.map(idOf).sort());
      expectSorted(records, sort ?? 'updated_at DESC');
    }
  });

  test("returns each record's exact stored text", async () => {
    const content = await admin.content('acme-us', 'bills', { limit: 20 });
    const { text } = await api.get(bills, { sort: 'last_synced_at ASC', limit: '20' });
    expect(text).toContain(`"bills":[${content.join(',')}]`);
  });

  test('puts records without updated_at first ascending and last descending', async () => {
    const ascending = await api.readAll(bills, { sort: 'updated_at ASC', limit: '500' });
    const descending = await api.readAll(bills, { sort: 'updated_at DESC', limit: '500' });
    const missing = ascending.filter(({ updated_at }) => updated_at === null).length;
    expect(missing).toBeGreaterThan(0);
    expect(ascending.slice(0, missing).every(({ updated_at }) => updated_at === null)).toBe(true);
    expect(descending.slice(-missing).every(({ updated_at }) => updated_at === null)).toBe(true);
  });

  test('has 50 records a page by default, and never more than 500', async () => {
    expect(await pageSize({})).toBe(50);
    expect(await pageSize({ limit: '3' })).toBe(3);
    expect(await pageSize({ limit: '100000' })).toBe(500);
    expect((await api.get(bills, { limit: '0' })).status).toBe(400);
    expect((await api.get(bills, { limit: 'ten' })).status).toBe(400);
  });

  test('refuses an unknown sort or cursor', async () => {
    expect((await api.get(bills, { sort: 'id ASC' })).status).toBe(400);
    expect((await api.get(bills, { sort: 'updated_at asc' })).status).toBe(400);
    for (const cursor of ['nonsense', 'e30=', Buffer.from('{"t":"x","id":1}').toString('base64')]) {
      const { status, text } = await api.get(bills, { cursor });
      expect([status, text]).toEqual([400, expect.stringContaining('INVALID_CURSOR')]);
    }
  });

  test('encodes the next record in its cursor: base64 of its time and ID', async () => {
    const page = await read({ sort: 'last_synced_at ASC', limit: '4' });
    const [next] = recordsOf(
      await read({ sort: 'last_synced_at ASC', limit: '1', cursor: page.next_cursor ?? '' }),
    );
    expect(JSON.parse(Buffer.from(page.next_cursor ?? '', 'base64').toString())).toEqual({
      t: Date.parse(next?.last_synced_at ?? ''),
      id: next?.id,
    });
  });

  test('can end without a cursor in three ways', async () => {
    for (const [lastCursor, expected] of [
      ['null', null],
      ['empty', ''],
      ['absent', undefined],
    ] as const) {
      await admin.configure({ lastCursor, requestsPer10s: 100_000 });
      expect((await read({ limit: '500', updated_at_min: '99999999999999' })).next_cursor).toBe(expected);
    }
    await admin.configure({ requestsPer10s: 100_000 });
  });
});

describe('while records move between pages', () => {
  test('a changed record is seen twice and none is missed when sorted by last_synced_at ascending', async () => {
    const before = (await admin.content('acme-eu', 'bills')).map(idOf);
    const changed = new Set<string>();
    const seen = await api.readAll(
      bills,
      { ...eu, sort: 'last_synced_at ASC', limit: '50' },
      async (soFar) => {
        const id = before[soFar.length - 10] ?? '';
        if (changed.size >= 5) return;
        changed.add(id);
        await admin.execute({
          kind: 'change',
          connection: 'acme-eu',
          resource: 'bills',
          id,
          patch: '{"memo":"moved"}',
        });
      },
    );
    const counts = countIds(seen);
    expect([...counts.keys()].sort()).toEqual([...before].sort());
    expect(
      [...counts]
        .filter(([, count]) => count === 2)
        .map(([id]) => id)
        .sort(),
    ).toEqual([...changed].sort());
  });

  test('a record ahead of the cursor that changes is missed in the default order', async () => {
    const all = await api.readAll(bills, { ...eu, limit: '500' });
    const victim = all.at(-40)?.id ?? '';
    let done = false;
    const seen = await api.readAll(bills, { ...eu, limit: '50' }, async () => {
      if (done) return;
      done = true;
      await admin.execute({
        kind: 'change',
        connection: 'acme-eu',
        resource: 'bills',
        id: victim,
        patch: '{}',
      });
    });
    expect(seen.map(({ id }) => id)).not.toContain(victim);
  });

  test.each(['last_synced_at ASC', 'updated_at DESC'])(
    'a cursor stays valid when its record is deleted (%s)',
    async (sort) => {
      const all = await api.readAll(bills, { ...eu, sort, limit: '500' });
      const page = await read({ ...eu, sort, limit: '50' });
      await admin.execute({
        kind: 'delete',
        connection: 'acme-eu',
        resource: 'bills',
        id: all[50]?.id ?? '',
      });
      const next = recordsOf(await read({ ...eu, sort, limit: '50', cursor: page.next_cursor ?? '' }));
      expect(next.map(({ id }) => id)).toEqual(all.slice(51, 101).map(({ id }) => id));
    },
  );

  test('a row cursor is refused once its record has moved', async () => {
    await admin.configure({ cursor: 'row', requestsPer10s: 100_000 });
    const page = await read({ ...eu, sort: 'last_synced_at ASC', limit: '10' });
    const all = (await admin.content('acme-eu', 'bills', { limit: 11 })).map(idOf);
    await admin.execute({ kind: 'touch', connection: 'acme-eu', resource: 'bills', ids: [all[10] ?? ''] });
    const query = { ...eu, sort: 'last_synced_at ASC', cursor: page.next_cursor ?? '' };
    expect((await api.get(bills, query)).status).toBe(400);
    await admin.configure({ requestsPer10s: 100_000 });
  });

  test('records that all share one last_synced_at are each returned once', async () => {
    await admin.execute({ kind: 'touch', connection: 'acme-uk', resource: 'bills' });
    const uk = { access_token: 'sandbox-token-acme-uk', sort: 'last_synced_at ASC' };
    const records = await api.readAll(bills, { ...uk, limit: '50' });
    const times = new Set(records.map(({ last_synced_at }) => last_synced_at));
    expect(times.size).toBe(1);
    expect(countIds(records).size).toBe(records.length);
    const min = String(Date.parse([...times][0] ?? ''));
    expect(await api.readAll(bills, { ...uk, limit: '500', last_synced_at_min: min })).toHaveLength(
      records.length,
    );
  });
});

const eu = { access_token: 'sandbox-token-acme-eu' };

async function read(query: Record<string, string>): Promise<Page> {
  return JSON.parse((await api.get(bills, query)).text) as Page;
}

async function pageSize(query: Record<string, string>): Promise<number> {
  return recordsOf(await read(query)).length;
}

function idOf(text: string): string {
  return (JSON.parse(text) as SandboxRecord).id;
}

function countIds(records: readonly SandboxRecord[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { id } of records) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

function expectSorted(records: readonly SandboxRecord[], sort: string): void {
  const field = sort.startsWith('updated_at') ? 'updated_at' : 'last_synced_at';
  const keys = records.map((record) => `${record[field] ?? ''} ${record.id}`);
  const sorted = [...keys].sort();
  expect(keys).toEqual(sort.endsWith('DESC') ? sorted.reverse() : sorted);
}
