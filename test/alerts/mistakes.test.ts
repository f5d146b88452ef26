import { beforeEach, expect, test, vi } from 'vitest';
import { setSchedule } from '../../warehouse/connections/set-schedule.ts';
import { eventually } from '../support/eventually.ts';
import { startDaybook } from '../support/daybook-process.ts';
import { createInstallation } from '../support/installation.ts';
import { proofTest } from '../support/proof-test.ts';
import { row } from '../support/rows.ts';
import { startSync } from '../support/sync.ts';
import { startReceiver, type AlertReceiver } from './alert-receiver.ts';
import { addStream } from './facts.ts';

// A test starts three processes, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const installation = await createInstallation();
const { warehouse, client } = installation;

let receiver: AlertReceiver;
beforeEach(async () => {
  receiver = await startReceiver();
});

test('a wrong token gives the same remedy in the alert and in status, and the remedy ends the alert', async () => {
  const worker = await installation.startWorker({ DAYBOOK_ALERT_URL: receiver.url });
  const name = await installation.connect({ records: 10, token: 'revoked-token' });
  await startSync(installation, name);
  const [opened] = await receiver.gets(1);
  expect(opened).toMatchObject({ event: 'open', alert: { kind: 'paused', connection: name } });
  expect(opened!.text).toContain('was refused for its credentials (401');
  expect(opened!.text).toContain(`"daybook connection set-token ${name}"`);

  const { stdout } = await installation.run(['status', name]);
  expect(stdout).toContain(`alert (paused, since `);
  expect(stdout).toContain(`${opened!.alert.message} What to do: ${opened!.alert.remedy}`);
  const json = await installation.run(['status', name, '--json']);
  const { alerts } = JSON.parse(json.stdout) as { alerts: unknown[] };
  expect(alerts).toMatchObject([{ kind: 'paused', connection_id: name, remedy: opened!.alert.remedy }]);
  expect(json.code).toBe(0);

  await installation.run(['connection', 'set-token', name, '--token-stdin'], { input: `token-of-${name}` });
  const [, resolved] = await receiver.gets(2);
  expect(resolved).toMatchObject({ event: 'resolve', alert: { id: opened!.alert.id } });
  const begin = performance.now();
  const { stdout: out, stderr } = await worker.stop();
  expect(performance.now() - begin).toBeLessThan(10_000);
  for (const text of [
    out,
    stderr,
    JSON.stringify(receiver.received.map(({ text: said, alert }) => [said, alert])),
  ])
    expect(text).not.toMatch(/planted|revoked-token|token-of-/);
});

proofTest(
  'serve alone reports that syncs have stopped, unless the schedule is paused in Temporal',
  async () => {
    const [paused, name] = [
      await installation.connect({ records: 1 }),
      await installation.connect({ records: 1 }),
    ];
    await client.schedule.create({
      scheduleId: `sync/${paused}`,
      spec: { intervals: [{ every: '5m' }] },
      state: { paused: true, note: 'month end' },
      action: { type: 'startWorkflow', workflowType: 'none', taskQueue: 'none' },
    });
    for (const connection of [paused, name]) {
      await setSchedule(warehouse, { connectionId: connection, syncEvery: 300_000 });
      await addStream(warehouse, { connection, stream: 'bills', completeMinutesAgo: 11 });
    }
    const serve = startDaybook(['serve'], {
      cwd: installation.cwd,
      env: { ...installation.env, DAYBOOK_ALERT_URL: receiver.url },
    });
    expect(await receiver.gets(1)).toMatchObject([{ alert: { kind: 'stale', connection: name } }]);
    await eventually(() =>
      row(warehouse, `select from sync.alerts where kind = 'stale' and open_sent_at is not null`),
    );
    await serve.stop();
    expect(receiver.received).toHaveLength(1);
  },
);
