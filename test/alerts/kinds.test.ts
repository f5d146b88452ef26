import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { alertKinds } from '../../warehouse/tables/alerts.ts';
import { row } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';

test('the comment of sync.alerts.kind names every kind of alert', async () => {
  const { warehouse } = await createTestDatabase();
  const { comment } = await row(
    warehouse,
    `select col_description(attrelid, attnum) as comment from pg_attribute
     where attrelid = 'sync.alerts'::regclass and attname = 'kind'`,
  );
  expect(comment).toBe(`What is wrong: ${alertKinds.join(', ')}`);
});

test('docs/operations.md has a row for every kind of alert, and for the one about the database', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const [, section = ''] = page.split(/^#+ Alerts$/m);
  const [table = ''] = section.split(/^#/m);
  const rows = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, kind]) => kind);
  expect(rows).toEqual([...alertKinds, 'database']);
});
