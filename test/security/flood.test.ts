import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startDaybook } from '../support/daybook-process.ts';
import { eventually } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { row } from '../support/rows.ts';
import { urlOf } from '../webhooks/company.ts';
import { entityWebhook, send } from '../webhooks/webhook.ts';

const installation = await createInstallation();
const { cwd, env, warehouse } = installation;
const serving = startDaybook(['serve'], { cwd, env });
afterAll(() => serving.stop());
await serving.says(/Serving at/);
const url = urlOf(serving);

test.each([
  // Refused at once, so most senders see a closed connection before they look for an answer.
  ['5 MB, as 0.5.0 took them', 5 * 1024 * 1024, undefined],
  ['as much as is taken', 2 * 1024 * 1024, '503 Retry-After'],
])(
  '250 webhooks that stop just short of %s cost no 150 MB, keep nobody from the pages, and let the service through',
  async (_, bytes, answer) => {
    // Each of what is measured has been done before.
    const before: number[] = [];
    for (let time = 0; time < 20; time += 1) {
      const started = performance.now();
      await askAll(`before-${time}`);
      before.push(performance.now() - started);
    }
    const idle = await megabytes();
    const flood = await startFlood(bytes, 250);
    const statuses: number[] = [];
    const milliseconds: number[] = [];
    let most = idle;
    for (let time = 0; time < 20; time += 1) {
      const started = performance.now();
      statuses.push(...(await askAll(`during-${bytes}-${time}`)));
      milliseconds.push(performance.now() - started);
      most = Math.max(most, await megabytes());
      await wait(200);
    }
    if (answer !== undefined) await flood.hears(answer);
    flood.end();
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    // Of an idle machine a few milliseconds; tests run on busy ones.
    expect(median(milliseconds)).toBeLessThan(1_000 + 2 * median(before));
    expect(most - idle).toBeLessThan(150);
    const { stored } = await row(
      warehouse,
      'select count(*)::int as stored from sync.webhook_inbox where record_id like $1',
      [`during-${bytes}-%`],
    );
    expect(stored).toBe(20);
  },
);

test('what was broken off is no error line, and at most one line a minute with its count', async () => {
  const flood = await startFlood(1_000, 50);
  flood.end();
  await eventually(async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/daybook_webhooks_total\{outcome="broken off"\} [1-9]/);
    return true;
  });
  const lines = serving
    .output()
    .split('\n')
    .filter((line) => line.includes('"level"'))
    .map((line) => JSON.parse(line) as { level: number; time: number; counts?: object });
  expect(lines.filter(({ level }) => level >= 50)).toEqual([]);
  const counted = lines.filter(({ counts }) => counts !== undefined);
  expect(counted.length).toBeGreaterThan(0);
  for (const [index, { time }] of counted.entries())
    if (index > 0) expect(time - (counted[index - 1]?.time ?? 0)).toBeGreaterThan(59_000);
});

async function askAll(id: string): Promise<number[]> {
  const record = bill(id);
  return Promise.all([
    ...['/healthz', '/readyz', '/', '/runs'].map(async (path) => {
      const response = await fetch(url + path);
      await response.text();
      return response.status;
    }),
    send(url, entityWebhook('nobody', { entity: 'BILL', what: 'UPDATED', record })),
  ]);
}

async function megabytes(): Promise<number> {
  const status = await readFile(`/proc/${serving.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

/** Resolves when all of its connections have been opened. */
async function startFlood(bytes: number, connections: number): Promise<Flood> {
  const main = fileURLToPath(new URL('flood-main.ts', import.meta.url));
  const child = spawn(process.execPath, [
    ...['--import', import.meta.resolve('tsx'), main],
    ...[new URL(url).port, String(bytes), String(connections)],
  ]);
  const heard: string[] = [];
  createInterface(child.stdout).on('line', (line) => heard.push(line));
  const hears = (line: string): Promise<boolean> =>
    eventually(async () => Promise.resolve(heard.includes(line) || undefined));
  const end = (): void => {
    child.kill('SIGKILL');
  };
  onTestFinished(end);
  await hears('under way');
  return { hears, end };
}

interface Flood {
  readonly hears: (line: string) => Promise<unknown>;
  readonly end: () => void;
}
