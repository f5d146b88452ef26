import { expect, test } from 'vitest';
import { startDaybook } from '../support/daybook-process.ts';
import { eventually } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';

// No worker works on workflows started here, so they run until they are ended.
const installation = await createInstallation();
const { client } = installation;

test('a sync that ends before it begins prints null with --json and a sentence on stderr, and exits with 1', async () => {
  const connection = await installation.connect();
  const { cwd, env } = installation;
  const following = startDaybook(['sync', connection, '--json'], { cwd, env });
  await eventually(async () => {
    await client.workflow.getHandle(`sync/${connection}`).terminate();
    return 'terminated';
  });
  const { code, stdout, stderr } = await following.ended;
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: 'null\n',
    stderr: 'The workflow ended before its run began; its history in Temporal says why.\n',
  });
});

test('a --no-wait request fails if the running run covers less than the request', async () => {
  const connection = await installation.connect();
  const spring = ['--from', '2024-03-01', '--to', '2024-06-01'];
  const run = (...args: string[]) => installation.run([...args, '--no-wait']);
  expect((await run('backfill', connection, ...spring, '--resource', 'bills')).stdout).toMatch(/^Started: /);
  const joined = await run('backfill', connection, ...spring, '--resource', 'bills');
  expect(joined).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Already running: /) as string });
  const less = {
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^A run of other resources of co-\w+ is under way \(.+\); nothing was started\. Repeat the command when it has ended\.\n$/,
    ) as string,
  };
  expect(await run('backfill', connection, ...spring, '--resource', 'customers')).toEqual(less);
  expect(await run('backfill', connection, ...spring)).toEqual(less);

  await run('sync', connection, '--resource', 'bills', '--resource', 'items');
  expect(await run('sync', connection, '--resource', 'items', '--json')).toMatchObject({ code: 0 });
  expect(await run('sync', connection, '--json')).toEqual(less);

  await run('reconcile', connection);
  expect(await run('reconcile', connection, '--resource', 'items')).toMatchObject({ code: 0 });
});

test("doctor reports Temporal's version, and that the server does not reveal if fairness is on", async () => {
  const { stdout } = await installation.run(['doctor', '--json']);
  const found = (JSON.parse(stdout) as { what: string; ok: boolean; found: string; warning?: true }[]).find(
    ({ what }) => what === 'fairness',
  );
  expect(stdout).toMatch(/"answers, version \d+\.\d+\.\d+\S*, namespace /);
  expect(found).toEqual({
    what: 'fairness',
    ok: true,
    found: expect.stringMatching(
      /^the server does not say whether it is on: set matching\.enableFairness to true in its dynamic configuration, or /,
    ) as string,
    warning: true,
  });
});
