import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { runDaybook } from '../support/daybook-process.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { url } = await createTestDatabase('');
const options = {
  cwd: tmpdir(),
  env: {
    DATABASE_URL: url,
    DAYBOOK_SECRET_KEY: Buffer.alloc(32, 'k').toString('base64'),
    DAYBOOK_API_URL: 'http://127.0.0.1:9',
    DAYBOOK_CLIENT_ID: 'client',
    DAYBOOK_CLIENT_SECRET: 'secret',
    TEMPORAL_ADDRESS: '127.0.0.1:9',
  },
};

test.each([['worker'], ['serve'], ['status']])(
  'daybook %s on a database that was never migrated exits with 2 and names the command to run',
  async (command) => {
    const { code, stderr } = await runDaybook([command], options);
    expect(code).toBe(2);
    expect(stderr).toContain('run "daybook migrate" first');
  },
);

test('migrate, run twice at once, applies each migration to an empty database once, and nothing when run again', async () => {
  const ended = await Promise.all([1, 2].map(() => runDaybook(['migrate', '--json'], options)));
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  const applied = ended.flatMap(({ stdout }) => (JSON.parse(stdout) as { applied: string[] }).applied);
  expect(new Set(applied).size).toBe(applied.length);
  expect(applied.length).toBeGreaterThan(0);
  const again = await runDaybook(['migrate'], options);
  expect(again.stdout).toContain('The warehouse is up to date.');
});
