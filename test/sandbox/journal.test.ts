import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import type { SandboxOptions } from '../../sandbox/sandbox-options.ts';
import { createSandboxAdmin } from '../support/sandbox-admin.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import { createSandboxApi } from './sandbox-api.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandbox-journal-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('a restarted sandbox has the same content, connections, events and clock', async () => {
  const journal = join(folder, 'new', 'world.jsonl');
  const before = await withSandbox(
    { journal, records: 300, seed: 9, asOf: '2025-06-30' },
    async (admin, url) => {
      await admin.execute({ kind: 'set-clock', offsetMs: 3_600_000 });
      await admin.execute({ kind: 'add-connection', name: 'other', platform: 'SAGE_INTACCT', records: 100 });
      await admin.activity({ connection: 'acme-us', changes: 3, touches: 2, deletes: 2 });
      const record = '{"id":"late","total_amount":9007199254740993.10,"updated_at":null}';
      await admin.execute({ kind: 'add', connection: 'acme-us', resource: 'bills', record });
      return look(admin, url);
    },
  );
  appendFileSync(journal, '{"at":1,"comm');
  const options = { journal, records: 5_000, seed: 10 };
  const after = await withSandbox(options, async (admin, url) => {
    const seen = await look(admin, url);
    await admin.execute({ kind: 'touch', connection: 'acme-us', resource: 'items' });
    return seen;
  });
  expect(after.bills).toEqual(before.bills);
  expect(after.events).toBe(before.events);
  expect(after.connections).toEqual(before.connections);
  expect(after.offset).toBeGreaterThan(3_000_000);
  await withSandbox({ journal }, async (admin, url) => {
    expect((await look(admin, url)).bills).toEqual(before.bills);
  });
});

test('writes made over the API are still there after a restart', async () => {
  const journal = join(folder, 'writes.jsonl');
  const before = await withSandbox({ journal, records: 300 }, async (admin, url) => {
    const api = createSandboxApi({ url });
    const line = '"vendor_id":"v","line_items":[{"total_amount":9007199254740993.10}]';
    const bill = idIn((await api.send('POST', '/accounting/bills', `{"bill":{${line}}}`)).text);
    const memos = '/accounting/bill_credit_memos';
    const memo = idIn((await api.send('POST', memos, `{"bill_credit_memo":{${line}}}`)).text);
    const linked = `[{"id":"${bill}","allocated_amount":0.30}]`;
    const application = `{"bill_credit_memo_id":"${memo}","linked_bills":${linked}}`;
    const body = `{"bill_credit_application":${application}}`;
    await api.send('POST', '/accounting/bill_credit_applications', body);
    await api.send('PATCH', `/accounting/bills/${bill}`, '{"bill":{"memo":"kept"}}');
    const expense = idIn((await admin.content('acme-us', 'expenses', { limit: 1 }))[0] ?? '');
    await api.send('DELETE', `/accounting/expenses/${expense}`);
    return books(admin, url);
  });
  expect(JSON.stringify(before)).toContain('9007199254740992.80');
  expect(await withSandbox({ journal }, books)).toEqual(before);
});

test('a journal with an unknown command is refused', async () => {
  const journal = join(folder, 'damaged.jsonl');
  await withSandbox({ journal, records: 100 }, (admin) => admin.connections());
  appendFileSync(journal, '{"at":1,"command":{"kind":"explode"}}\n');
  await expect(startSandbox({ journal })).rejects.toThrow();
});

async function withSandbox<T>(
  options: SandboxOptions,
  use: (admin: SandboxAdmin, url: string) => Promise<T>,
): Promise<T> {
  const sandbox = await startSandbox(options);
  try {
    return await use(createSandboxAdmin(sandbox.adminUrl), sandbox.url);
  } finally {
    await sandbox.close();
  }
}

async function look(admin: SandboxAdmin, url: string): Promise<Seen> {
  return {
    bills: await admin.content('acme-us', 'bills'),
    events: (await createSandboxApi({ url }).get('/events', { type: 'object_deleted' })).text,
    connections: (await admin.connections()).map((connection) => ({ ...connection, ready: 'by then' })),
    offset: (await admin.now()) - Date.now(),
  };
}

async function books(admin: SandboxAdmin, url: string): Promise<unknown[]> {
  const { bills, events } = await look(admin, url);
  return [bills, events, await admin.content('acme-us', 'bill_credit_memos')];
}

function idIn(text: string): string {
  return /"id":"([^"]+)"/.exec(text)?.[1] ?? '';
}

interface Seen {
  readonly bills: string[];
  readonly events: string;
  readonly connections: unknown[];
  readonly offset: number;
}
