import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { QuarantineEntry } from '../../warehouse/quarantine/read-quarantine.ts';
import { runDaybook, type Ended } from '../support/daybook-process.ts';
import { addTestConnection, testApiAddress, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { url, warehouse } = await createTestDatabase();
const cwd = await mkdtemp(join(tmpdir(), 'daybook-test-quarantine-'));
afterAll(() => rm(cwd, { recursive: true, force: true }));

/** One company has sent many records that cannot be stored, and another had sent one such record before. */
const flooded = await addTestConnection(warehouse, 'flooded');
const other = await addTestConnection(warehouse, 'other');
const silent = await addTestConnection(warehouse, 'silent');
await warehouse.pool.query(
  `insert into sync.quarantine
     (connection_id, resource, stream, record_id, entry_key, reason, payload, run_id, first_seen_at, last_seen_at, status, closed_at)
   select case n when 1 then $1 else $2 end, 'bills', 'bills', 'bill-' || n, 'bill-' || n, 'total_amount is a text.', '{}', 'run', now(),
     now(), case when n <= 1300 then 'open' else 'landed' end, case when n > 1300 then now() end
   from generate_series(1, 1305) n
   order by n`,
  [other, flooded],
);

describe('quarantine list', () => {
  test('shows the newest 1,000 entries, and says how many there are and how to see all', async () => {
    const { code, stdout, stderr } = await list();
    expect(code).toBe(0);
    expect(idsIn(stdout)).toEqual(numbered(1300, 301));
    expect(stderr).toBe('Showing the newest 1,000 of 1,300 entries; "--limit 1300" shows all.\n');
    const [all, closed] = [await list('--limit', '1300'), await list('--all', '--limit', '2')];
    expect(idsIn(all.stdout)).toEqual(numbered(1300, 1));
    expect(all.stderr).toBe('');
    expect(idsIn(closed.stdout)).toEqual(['bill-1305', 'bill-1304']);
    expect(closed.stderr).toBe('Showing the newest 2 of 1,305 entries; "--limit 1305" shows all.\n');
  });

  test("with --connection shows only that connection's entries, and refuses an unknown one", async () => {
    const [one, none, unknown] = [
      await list('--connection', other),
      await list('--connection', silent),
      await list('--connection', 'nobody'),
    ];
    expect(idsIn(one.stdout)).toEqual(['bill-1']);
    expect(one.stderr).toBe('');
    expect(none).toMatchObject({ code: 0, stdout: 'Nothing is in quarantine.\n' });
    expect(unknown.code).not.toBe(0);
    expect(unknown.stderr).toContain('nobody');
    const shown = await list('--connection', flooded, '--all', '--limit', '1');
    expect(idsIn(shown.stdout)).toEqual(['bill-1305']);
    expect(shown.stderr).toContain('the newest 1 of 1,304 entries');
  });

  test('with --json prints only a list, cut to --limit', async () => {
    const { stdout, stderr } = await list('--json', '--limit', '3');
    expect((JSON.parse(stdout) as QuarantineEntry[]).map(({ record_id }) => record_id)).toEqual(
      numbered(1300, 1298),
    );
    expect(JSON.parse(stdout)).toMatchObject([
      {
        id: 1300,
        connection_id: flooded,
        resource: 'bills',
        reason: 'total_amount is a text.',
        status: 'open',
      },
      {},
      {},
    ]);
    expect(stderr).toContain('the newest 3 of 1,300 entries');
  });
});

test('a replay of an unknown connection says so', async () => {
  const { code, stdout, stderr } = await quarantine('replay', '--connection', 'nobody');
  expect(stderr).toContain('There is no connection nobody.');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
});

function list(...args: string[]): Promise<Ended> {
  return quarantine('list', ...args);
}

function quarantine(...args: string[]): Promise<Ended> {
  return runDaybook(['quarantine', ...args], {
    cwd,
    env: {
      DATABASE_URL: url,
      DAYBOOK_HOME: join(cwd, 'home'),
      DAYBOOK_API_URL: testApiAddress,
      DAYBOOK_CLIENT_ID: 'client',
      DAYBOOK_CLIENT_SECRET: 'client-secret',
      DAYBOOK_SECRET_KEY: testKey.toString('base64'),
    },
  });
}

function idsIn(table: string): string[] {
  return table.match(/bill-\d+/g) ?? [];
}

function numbered(from: number, to: number): string[] {
  return Array.from({ length: from - to + 1 }, (_, index) => `bill-${from - index}`);
}
