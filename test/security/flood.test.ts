import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startDaybook, testProgram } from '../support/daybook-process.ts';
import { eventually } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { clientSecret, createInstallation } from '../support/installation.ts';
import { isProof, proofTest, some } from '../support/proof-test.ts';
import { row } from '../support/rows.ts';
import { readListeningUrl } from '../webhooks/company.ts';
import { codeOf } from '../../errors/code-of.ts';
import { webhookSignature } from '../../source/webhook-signature.ts';
import { entityWebhook, send } from '../webhooks/webhook.ts';

const installation = await createInstallation();
const { cwd, env, warehouse } = installation;
const serving = startDaybook(['serve'], { cwd, env });
afterAll(() => serving.stop());
await serving.waitForOutput(/Serving at/);
const url = readListeningUrl(serving);
/** The number of measurements of an attack's effect on others. Meanwhile the attack takes the whole machine. */
const measurements = isProof ? 20 : 8;

test.each(
  some([
    // Refused at once, so most senders see a closed connection before they look for an answer.
    ['5 MB, as 0.5.0 took them', 5 * 1024 * 1024, undefined],
    ['as much as is taken', 2 * 1024 * 1024, '503 Retry-After'],
  ]),
)(
  '250 webhooks that stop just short of %s take under 150 MB, and block neither pages nor valid webhooks',
  async (_, bytes, answer) => {
    // A warm-up: everything that is measured has run before.
    const before: number[] = [];
    for (let time = 0; time < measurements; time += 1) {
      const started = performance.now();
      await askAll(`before-${time}`);
      before.push(performance.now() - started);
    }
    const idle = await megabytes();
    const flood = await attack('flood-main.ts', String(bytes), '250');
    const statuses: number[] = [];
    const milliseconds: number[] = [];
    let most = idle;
    for (let time = 0; time < measurements; time += 1) {
      const started = performance.now();
      statuses.push(...(await askAll(`during-${bytes}-${time}`)));
      milliseconds.push(performance.now() - started);
      most = Math.max(most, await megabytes());
      await wait(200);
    }
    if (answer !== undefined) await flood.hears(answer);
    flood.end();
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    // An idle machine takes a few milliseconds, but tests run on busy ones.
    expect(median(milliseconds)).toBeLessThan(1_000 + 2 * median(before));
    expect(most - idle).toBeLessThan(150);
    const { stored } = await row(
      warehouse,
      'select count(*)::int as stored from sync.webhook_inbox where record_id like $1',
      [`during-${bytes}-%`],
    );
    expect(stored).toBe(measurements);
  },
);

const host = 'HTTP/1.1\r\nHost: localhost\r\n';
const chunked = `POST /webhooks ${host}Transfer-Encoding: chunked\r\n\r\n`;

test.each<[string, number, string, number?, string?]>(
  some([
    ['/metrics', 10, `GET /metrics ${host}\r\n`],
    ['/readyz', 10, `GET /readyz ${host}\r\n`],
    ['the console', 10, `GET / ${host}\r\n`],
    ['what is not there', 10, `GET /nowhere ${host}\r\n`],
    ['what is no path', 30, `GET /%zz ${host}\r\n`],
    ['what nobody expects', 30, `GET /healthz ${host}Expect: x\r\n\r\n`],
    ['the health', 30, `GET /healthz ${host}\r\n`],
    ['webhooks in pieces of a byte', 64, '1\r\na\r\n', 200_000, chunked],
  ]),
)(
  'thousands of pipelined requests for %s whose answers nobody reads do not block the health probe',
  async (_, connections, text, times = 1_500, head = '') => {
    const idle = await megabytes();
    const pipelines = await attack('pipeline-main.ts', text, String(connections), String(times), head);
    const milliseconds: number[] = [];
    let most = idle;
    for (let time = 0; time < 10; time += 1) {
      const started = performance.now();
      expect(await requestStatus('/healthz')).toBe(200);
      milliseconds.push(performance.now() - started);
      most = Math.max(most, await megabytes());
    }
    pipelines.end();
    expect(Math.max(...milliseconds)).toBeLessThan(5_000);
    expect(median(milliseconds)).toBeLessThan(1_000);
    expect(most - idle).toBeLessThan(150);
  },
);

test.each(
  some([
    ['GET /healthz', ''],
    ['POST /nowhere', 'Content-Type: application/json\r\n'],
    ['POST /webhooks', ''],
  ]),
)('a hundred bodies sent byte by byte do not block the health probe: %s', async (request, headers) => {
  const head = `${request} ${host}${headers}Transfer-Encoding: chunked\r\n\r\n`;
  const chunks = await attack('one-byte-chunks-main.ts', head, '100');
  const lasting = isProof ? 12_000 : 2_000;
  const milliseconds: number[] = [];
  for (const began = performance.now(); performance.now() - began < lasting;) {
    const started = performance.now();
    expect(await requestStatus('/healthz', '127.0.0.3')).toBe(200);
    milliseconds.push(performance.now() - started);
    await wait(100);
  }
  chunks.end();
  expect(Math.max(...milliseconds)).toBeLessThan(5_000);
});

proofTest(
  'two thousand webhooks a second that stop after a byte do not block webhooks and probes from another address',
  async () => {
    const churn = await attack('churn-main.ts', '127.0.0.2', '2000');
    const statuses: number[] = [];
    const resets: string[] = [];
    for (let time = 0; time < 25; time += 1) {
      statuses.push(
        await retryOnceAfterReset(() => sendSlowly(`churn-${time}`, '127.0.0.3'), resets),
        await retryOnceAfterReset(() => requestStatus('/healthz', '127.0.0.3'), resets),
      );
    }
    churn.end();
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    // Happens once in thousands, on a machine busy with other tests.
    expect(resets.length, resets.join(', ')).toBeLessThan(2);
  },
);

test.each(some([['/'], ['/dashboard'], ['/runs']]))(
  'clients that ask for %s hundreds of times a second and hang up do not block webhooks, probes or pages',
  async (path) => {
    const idle = await megabytes();
    const hangUps = await attack('hang-up-main.ts', '127.0.0.2', path, '10');
    const milliseconds: number[] = [];
    let most = idle;
    const ask = async (id: string): Promise<void> => {
      for (const answered of [
        sendSlowly(id, '127.0.0.3'),
        requestStatus('/readyz', '127.0.0.3'),
        requestStatus('/', '127.0.0.3'),
      ]) {
        const started = performance.now();
        expect(await answered).toBe(200);
        milliseconds.push(performance.now() - started);
      }
      most = Math.max(most, await megabytes());
    };
    for (let time = 0; time < measurements; time += 1) await ask(`hang-up-${path}-${time}`);
    hangUps.end();
    await ask(`hung-up-${path}`);
    expect(Math.max(...milliseconds)).toBeLessThan(5_000);
    expect(median(milliseconds)).toBeLessThan(1_000);
    expect(most - idle).toBeLessThan(150);
  },
);

test('broken-off webhooks log no error, and at most one line a minute with their count', async () => {
  const flood = await attack('flood-main.ts', '1000', '50');
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

/** Repeats after a reset, as the service does with a webhook, and a probe at its next interval. */
async function retryOnceAfterReset(ask: () => Promise<number>, resets: string[]): Promise<number> {
  const started = performance.now();
  try {
    return await ask();
  } catch (error) {
    if (codeOf(error) !== 'ECONNRESET') throw error;
    resets.push(`reset after ${Math.round(performance.now() - started)} ms`);
    return ask();
  }
}

function requestStatus(path: string, localAddress = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url + path, { localAddress, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

/** Sends as from far away: the body comes 40 ms after its headers. */
function sendSlowly(id: string, localAddress: string): Promise<number> {
  const body = entityWebhook('nobody', { entity: 'BILL', what: 'UPDATED', record: bill(id) });
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-service-signature': webhookSignature(body, clientSecret),
    };
    const sending = request(
      `${url}/webhooks`,
      { method: 'POST', headers, localAddress, agent: false },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    ).on('error', reject);
    sending.flushHeaders();
    setTimeout(() => sending.end(body), 40);
  });
}

async function megabytes(): Promise<number> {
  const status = await readFile(`/proc/${serving.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

/** Starts an attacking process. Resolves when it is under way. */
async function attack(file: string, ...values: readonly string[]): Promise<Attack> {
  const program = testProgram(`test/security/${file}`);
  const child = spawn(process.execPath, [...program, new URL(url).port, ...values]);
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

interface Attack {
  readonly hears: (line: string) => Promise<unknown>;
  readonly end: () => void;
}
