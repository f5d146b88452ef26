import { expect, test } from 'vitest';
import { judgeAlerts } from '../../warehouse/alerts/judge-alerts.ts';
import { readOpenAlerts } from '../../warehouse/alerts/read-alerts.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

test('the alert of a failed build on Spark names only the command that repeats it', async () => {
  expect(await remedyAfterFailureOf('spark')).toBe(
    'Do what the failure says, then "daybook dbt build --target spark".',
  );
  expect(await remedyAfterFailureOf('postgres')).toBe(
    'Do what the failure says, then "daybook dbt build --target spark" and "daybook dbt build"; the next export builds them again too, except those on Spark.',
  );
  await finishBuild('spark', 'succeeded');
  expect(await remedyAfterFailureOf('lake')).toBe(
    'Do what the failure says, then "daybook dbt build" and "daybook dbt build --target lake"; the next export builds them again too.',
  );
});

async function remedyAfterFailureOf(target: string): Promise<string | undefined> {
  await finishBuild(target, 'failed');
  await judgeAlerts(warehouse, { pausedElsewhere: [] });
  return (await readOpenAlerts(warehouse)).find(({ kind }) => kind === 'marts')?.remedy;
}

async function finishBuild(target: string, status: 'succeeded' | 'failed'): Promise<void> {
  await warehouse.pool.query(
    `insert into sync.runs (run_id, kind, target, status, workflow_id, temporal_run_id, reason, failure, finished_at)
     values (gen_random_uuid(), 'marts', $1, $2, 'marts', 'm', 'test', 'A test failed.', now())`,
    [target, status],
  );
}
