import { beforeAll, expect, test } from 'vitest';
import { withBuildLock } from '../../warehouse/marts/build-lock.ts';
import { createInstallation } from '../support/installation.ts';
import { pathWithoutPython } from '../support/path-without-python.ts';
import { proofTest } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { sync } from '../support/sync.ts';
import { withinFiveMinutes } from '../support/eventually.ts';

const installation = await createInstallation();
const { run, warehouse, client, cwd, databaseUrl } = installation;
const withoutPython = await pathWithoutPython(cwd);
const marts = client.workflow.getHandle('marts');

beforeAll(async () => {
  await installation.startWorker(withoutPython);
  await sync(installation, await installation.connect({ records: 20 }));
});

test('an export without Python skips the marts, and status says what to install', async () => {
  expect((await run(['export'])).code).toBe(0);
  expect(await marts.result()).toMatchObject({
    postgres: { skipped: expect.stringContaining('Python 3.10') as string },
  });
  const { stdout } = await run(['status']);
  expect(stdout).toContain(
    'Marts in Postgres: none yet; The marts were skipped. The marts need Python 3.10 or newer, and there is no python3 on PATH',
  );
  expect(await rows(warehouse, `select status, failure from sync.runs where kind = 'marts'`)).toEqual([
    { status: 'unsupported', failure: null },
    { status: 'unsupported', failure: null },
  ]);
  expect(await rows(warehouse, 'select kind from sync.alerts where resolved_at is null')).toEqual([]);
  const doctor = await run(['doctor', '--json'], { env: withoutPython });
  expect(JSON.parse(doctor.stdout)).toContainEqual({
    what: 'Python',
    ok: false,
    found: expect.stringContaining('the marts are skipped') as string,
  });
});

proofTest('exports that end while marts are being built trigger one more build afterwards', async () => {
  const first = await withBuildLock({ databaseUrl, target: 'postgres' }, async () => {
    await run(['export']);
    const { runId } = await marts.describe();
    await withinFiveMinutes(async () => ((await attemptsOf(runId)) > 1 ? true : undefined));
    await rows(
      warehouse,
      `update finance.bills set memo = 'another' where id = (select min(id) from finance.bills)`,
    );
    await run(['export']);
    await run(['export']);
    expect((await marts.describe()).runId).toBe(runId);
    return runId;
  });
  await marts.result();
  const second = await marts.describe();
  expect(second.runId).not.toBe(first);
  const { events } = await marts.fetchHistory();
  expect(events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId).toBe(first);
  expect(
    await rows(warehouse, `select run_id from sync.runs where kind = 'marts' and run_id like $1`, [
      `${second.runId}-%`,
    ]),
  ).toHaveLength(2);
});

async function attemptsOf(runId: string): Promise<number> {
  const { raw } = await client.workflow.getHandle('marts', runId).describe();
  return raw.pendingActivities?.[0]?.attempt ?? 0;
}
