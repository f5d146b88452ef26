import { pino } from 'pino';
import { expect, test } from 'vitest';
import { scheduleIds } from '../../temporal/schedule-ids.ts';
import { stepFor } from '../../warehouse/connections/settle-stretch.ts';
import { repairSchedules } from '../../worker/schedules/repair-schedules.ts';
import { openConsole } from '../console/open-console.ts';
import { launchBrowser } from '../support/browser.ts';
import { createInstallation } from '../support/installation.ts';
import { rows } from '../support/rows.ts';
import { addFleet } from './add-fleet.ts';

const { open } = await launchBrowser();

test('an API budget too small for all stretches every sync by the same factor, and pages and commands say so', async () => {
  // The budget is 48 requests a minute, of which syncs get four fifths; 100 connections every 15 minutes ask for 54.
  const installation = await createInstallation({ env: { DAYBOOK_API_REQUESTS_PER_10S: '8' } });
  const { warehouse, client: temporal, sandbox, run } = installation;
  await addFleet(warehouse, { connections: 100, apiAddress: sandbox.url });
  const repair = (requestsPer10s: number): Promise<boolean> =>
    repairSchedules(
      { warehouse, temporal, apiAddress: sandbox.url, requestsPer10s },
      { logger: pino({ level: 'silent' }), stopping: new AbortController().signal },
    );
  expect((await run(['status', 'co-00000'])).stdout).toContain('less often than configured, within the hour');

  expect(await repair(8)).toBe(true);

  expect(await stretches()).toEqual([{ sync_stretch: 1.5, connections: 100 }]);
  const schedule = await temporal.schedule.getHandle(scheduleIds.connection('sync', 'co-00000')).describe();
  expect(schedule.spec.intervals).toMatchObject([{ every: 22.5 * 60_000 }]);
  const reconcile = scheduleIds.connection('reconcile', 'co-00000');
  expect((await temporal.schedule.getHandle(reconcile).describe()).spec.intervals).toMatchObject([
    { every: 24 * 3_600_000 },
  ]);
  const said =
    'scheduled syncs ask for 54 requests a minute, and the API budget allows 48, of which four fifths are for them: each runs at 1.5 times its interval.';
  const { stdout } = await run(['status', 'co-00000']);
  expect(stdout).toContain(`API budget: ${said}`);
  expect(stdout).toContain('synced every 15m, stretched 1.5 times for the API budget, next at');
  const page = await open(await openConsole(installation));
  expect(await page.locator('.note').allTextContents()).toEqual([expect.stringContaining(said)]);

  // The last complete read was 40 minutes ago, which is less than two of the stretched intervals.
  await warehouse.pool.query(`update sync.streams set last_success_at = now() - interval '40 minutes'`);
  expect(JSON.parse((await run(['status', 'co-00000', '--json'])).stdout)).toMatchObject({
    api_demand: { requests_per_minute: 54, allowed_per_minute: 48, stretch: 1.5 },
    connections: [{ every_seconds: 900, stretch: 1.5, stale: false }],
  });

  // A small increase does not justify updating a hundred schedules in Temporal; a large one does.
  expect(await repair(9)).toBe(true);
  expect(await stretches()).toEqual([{ sync_stretch: 1.5, connections: 100 }]);
  expect(await repair(80)).toBe(true);
  expect(await stretches()).toEqual([{ sync_stretch: 1, connections: 100 }]);
  expect(JSON.parse((await run(['status', 'co-00000', '--json'])).stdout)).toMatchObject({
    connections: [{ stale: true }],
  });

  async function stretches(): Promise<unknown> {
    return rows(warehouse, 'select sync_stretch, count(*) as connections from sync.connections group by 1');
  }
});

test('adding a connection beyond the budget prints a warning, and doctor shows the demand on the budget', async () => {
  const { run, env } = await createInstallation({
    env: { DAYBOOK_API_REQUESTS_PER_10S: '1', TOKEN: 'a-token' },
  });
  const add = async (name: string, every: string): Promise<string> =>
    (await run(['connection', 'add', name, '--token-env', 'TOKEN', '--every', every])).stdout;
  expect(env.DAYBOOK_API_REQUESTS_PER_10S).toBe('1');
  expect(await add('one', '15m')).not.toContain('budget');
  expect((await run(['doctor'])).stdout).toContain('scheduled syncs ask for 1 of the 6 requests a minute');
  expect(await add('two', '1m')).toContain(
    'With it, scheduled syncs ask for 9 requests a minute, and the API budget allows 6',
  );
  expect((await run(['connection', 'set', 'two', '--every', '90s'])).stdout).toContain(
    'ask for 6 requests a minute, and the API budget allows 6',
  );
});

test('the factors by which syncs are stretched are few, and each is large enough', () => {
  expect([0, 0.9, 1, 1.01, 1.3, 1.9, 2.01, 2.47, 5, 41].map(stepFor)).toEqual([
    1, 1, 1, 1.25, 1.5, 2, 2.5, 2.5, 5, 48,
  ]);
});
