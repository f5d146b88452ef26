import { expect, test, vi } from 'vitest';
import { printSummary } from '../../cli/tour/summary.ts';
import type { RunningUp } from '../../cli/start-up.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

test('the summary of npm start shows the address of Postgres without its password', async () => {
  const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const settings = {
    database: { url: 'postgres://daybook:planted@127.0.0.1:5433/daybook' },
    temporal: { ui: 'http://127.0.0.1:8233', connection: {} },
  };
  await printSummary(warehouse, { settings, httpUrl: 'http://127.0.0.1:8390' } as RunningUp, {
    hasMarts: false,
  });
  const text = said.mock.calls.map(([one]) => String(one)).join('');
  said.mockRestore();
  expect(text).toMatch(/^Postgres +postgres:\/\/daybook@127\.0\.0\.1:5433\/daybook$/m);
  expect(text).not.toContain('planted');
});
