import { createHash, randomUUID } from 'node:crypto';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { openApiBudget, type ApiBudget, type ApiGrant } from '../../warehouse/api-budget/api-budget.ts';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import { billsRequest, clientOf, startScriptedApi } from '../source/scripted-api.ts';
import { proofTest } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { skewClock } from '../support/skewed-clock.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse, url } = await createTestDatabase();
const other = openWarehouse({ url, connections: 5 });
const clock = await skewClock(url);
const skewed = openWarehouse({ url: clock.url, connections: 5 });
afterAll(() => Promise.all([other.close(), skewed.close()]));

proofTest('two workers together never send more than the budget in any 10 seconds', async () => {
  const clientId = randomUUID();
  const budgets = [budgetOf(warehouse, clientId, 5), budgetOf(other, clientId, 5)] as const;
  const sent = await Promise.all(
    budgets.flatMap((budget) => Array.from({ length: 5 }, () => sendOne(budget))),
  );
  const times = sent.sort((a, b) => a - b);
  const inAnyWindow = times.map(
    (start) => times.filter((time) => time >= start && time < start + 10_000).length,
  );
  expect(Math.max(...inAnyWindow)).toBe(5);
  // The allowed number goes at once, and the rest as soon as the window allows.
  expect((times[4] ?? 0) - (times[0] ?? 0)).toBeLessThan(5_000);
  expect((times[9] ?? 0) - (times[0] ?? 0)).toBeLessThan(20_000);
});

test('half of the budget is granted at once, and the rest is spread over the window', async () => {
  const budget = budgetOf(warehouse, randomUUID(), 400);
  const started = performance.now();
  for (let sent = 0; sent < 200; sent += 1) await sendOne(budget);
  const atOnce = performance.now() - started;
  for (let sent = 0; sent < 40; sent += 1) await sendOne(budget);
  const spread = performance.now() - started - atOnce;
  // 200 are left for the rest of the eleven seconds.
  const apart = (11_000 - atOnce) / 200;
  expect(spread / 40).toBeGreaterThan(0.8 * apart);
  expect(spread / 40).toBeLessThan(3 * apart);
});

test('the rest of the budget is spread over no more time than a grant lasts', async () => {
  let now = 0;
  const settings = { apiAddress: 'https://api.example.com', clientId: randomUUID(), requestsPer10s: 400 };
  const budget = openApiBudget(warehouse, { ...settings, monotonic: () => now });
  for (let late = 0; late < 3; late += 1) {
    const grant = await grantOf(budget);
    now += 4_001;
    expect(grant.redeem()).toBe(false);
    grant.release();
  }
  for (let sent = 0; sent < 190; sent += 1) await sendOne(budget);
  const started = performance.now();
  for (let sent = 0; sent < 20; sent += 1) await sendOne(budget);
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('a pause requested by the service applies to the whole organization', async () => {
  const clientId = randomUUID();
  await sendOne(budgetOf(warehouse, clientId));
  const started = performance.now();
  await budgetOf(other, clientId).reportRateLimited(700);
  // A shorter silence requested later does not end it.
  await budgetOf(other, clientId).reportRateLimited(0);
  expect((await sendOne(budgetOf(warehouse, clientId))) - started).toBeGreaterThanOrEqual(700);
});

test('a pause too long to wait for is reported instead', async () => {
  const clientId = randomUUID();
  await budgetOf(warehouse, clientId).reportRateLimited(60_000);
  const silence = await silenceOf(budgetOf(warehouse, clientId));
  expect(silence).toBeGreaterThan(50_000);
  expect(silence).toBeLessThanOrEqual(60_000);
});

test('a pause is at most an hour', async () => {
  const clientId = randomUUID();
  await budgetOf(warehouse, clientId).reportRateLimited(2 * 3_600_000);
  const silence = await silenceOf(budgetOf(warehouse, clientId));
  expect(silence).toBeGreaterThan(3_000_000);
  expect(silence).toBeLessThanOrEqual(3_600_000);
});

test('a pause set by a wrong clock, two hours ahead, is dropped', async () => {
  const budget = budgetOf(skewed, randomUUID());
  onTestFinished(() => clock.ahead('0'));
  await clock.ahead('2 hours');
  await budget.reportRateLimited(60_000);
  await clock.ahead('0');
  await sendOne(budget);
  // It does not begin when that time comes either.
  await clock.ahead('1 hour 59 minutes 30 seconds');
  await sendOne(budget);
});

test('a worker whose clock is two hours ahead pauses the organization for as long as a 429 asks', async () => {
  const clientId = randomUUID();
  const api = await startScriptedApi((_, response) => {
    response.writeHead(429, { 'retry-after': '2' }).end();
  });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  const { client } = clientOf(api, { budget: budgetOf(warehouse, clientId) });
  const started = performance.now();
  await expect(client.list(billsRequest)).rejects.toMatchObject({ name: 'RateLimited' });
  vi.useRealTimers();
  const waited = (await sendOne(budgetOf(other, clientId))) - started;
  expect(waited).toBeGreaterThanOrEqual(2_000);
  expect(waited).toBeLessThan(10_000);
});

test('other organizations have separate budgets', async () => {
  const blocked = randomUUID();
  await budgetOf(warehouse, blocked).reportRateLimited(60_000);
  const started = performance.now();
  await sendOne(budgetOf(warehouse, randomUUID()));
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('a request that waits for the budget can be aborted', async () => {
  const budget = budgetOf(warehouse, randomUUID());
  await budget.reportRateLimited(10_000);
  const stop = new AbortController();
  const taking = budget.take(stop.signal);
  stop.abort(new Error('enough'));
  await expect(taking).rejects.toThrow();
  await expect(budget.take(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
});

test('expired requests are deleted by a starting process, and every 10 seconds', async () => {
  onTestFinished(() => clock.ahead('0'));
  const clientId = randomUUID();
  let now = 0;
  const process = (): ApiBudget => {
    const settings = { apiAddress: 'https://api.example.com', clientId, requestsPer10s: 100 };
    return openApiBudget(skewed, { ...settings, monotonic: () => now });
  };
  const first = process();
  await sendOne(first);
  await clock.ahead('1 minute');
  const budget = createHash('sha256')
    .update(`https://api.example.com\n${clientId}`)
    .digest('hex')
    .slice(0, 32);
  const grants = (): Promise<unknown[]> =>
    rows(skewed, 'select from sync.api_grants where budget = $1', [budget]);
  await sendOne(first);
  expect(await grants()).toHaveLength(2);
  now += 10_000;
  await sendOne(first);
  expect(await grants()).toHaveLength(2);
  await clock.ahead('2 minutes');
  await sendOne(process());
  expect(await grants()).toHaveLength(1);
});

test('a grant inserts one row and updates no other', async () => {
  const clientId = randomUUID();
  const budget = budgetOf(warehouse, clientId);
  await sendOne(budget);
  const versions = (): Promise<unknown[]> =>
    rows(warehouse, `select ctid::text, xmin::text from sync.api_budgets order by 1`);
  const before = await versions();
  for (let sent = 0; sent < 20; sent += 1) await sendOne(budget);
  expect(await versions()).toEqual(before);
});

proofTest(
  'a budget goes on and keeps its counts when the Postgres clock, two hours ahead, is set back',
  async () => {
    const clientId = randomUUID();
    await clock.ahead('2 hours');
    onTestFinished(() => clock.ahead('0'));
    const before = await Promise.all(Array.from({ length: 3 }, () => sendOne(budgetOf(skewed, clientId, 5))));
    await budgetOf(skewed, clientId, 5).reportRateLimited(5_000);
    await clock.ahead('0');
    const after: number[] = [];
    const budget = budgetOf(skewed, clientId, 5);
    for (let sent = 0; sent < 3; sent += 1) after.push(await sendOne(budget));
    expect((after[1] ?? 0) - Math.min(...before)).toBeLessThan(5_000);
    expect((after[2] ?? 0) - Math.min(...before)).toBeGreaterThanOrEqual(10_000);
    expect((after[2] ?? 0) - Math.min(...before)).toBeLessThan(20_000);
  },
);

proofTest('a Postgres clock that is set forward does not let a process exceed the budget', async () => {
  const budget = budgetOf(skewed, randomUUID(), 3);
  onTestFinished(() => clock.ahead('0'));
  const before = await Promise.all([sendOne(budget), sendOne(budget), sendOne(budget)]);
  await clock.ahead('2 hours');
  expect((await sendOne(budget)) - Math.min(...before)).toBeGreaterThanOrEqual(10_000);
});

proofTest('an unanswered request still counts, since it may still arrive', async () => {
  const budget = budgetOf(skewed, randomUUID(), 2);
  onTestFinished(() => clock.ahead('0'));
  const [slow] = [await grantOf(budget), await sendOne(budget)];
  // Both rows have expired.
  await clock.ahead('1 minute');
  const stop = new AbortController();
  const taking = budget.take(stop.signal);
  slow.release();
  const answered = performance.now();
  (await taking.then(grantedOnly)).release();
  expect(performance.now() - answered).toBeGreaterThanOrEqual(9_900);
});

test('a grant expires before a request almost a second later, and the next grant lasts longer', async () => {
  let now = 0;
  const settings = { apiAddress: 'https://api.example.com', clientId: randomUUID(), requestsPer10s: 10 };
  const budget = openApiBudget(warehouse, { ...settings, monotonic: () => now });
  const late = await grantOf(budget);
  now += 900;
  expect(late.redeem()).toBe(false);
  late.release();
  const next = await grantOf(budget);
  now += 900;
  expect(next.redeem()).toBe(true);
  next.release();
});

/** Takes a grant, sends and is answered at once. Returns the time. */
async function sendOne(budget: ApiBudget): Promise<number> {
  const grant = await grantOf(budget);
  const sent = performance.now();
  grant.release();
  return sent;
}

async function grantOf(budget: ApiBudget): Promise<ApiGrant> {
  return grantedOnly(await budget.take());
}

function grantedOnly(taken: Awaited<ReturnType<ApiBudget['take']>>): ApiGrant {
  if ('silentMilliseconds' in taken) throw new Error(`Silence for ${taken.silentMilliseconds} ms.`);
  return taken;
}

async function silenceOf(budget: ApiBudget): Promise<number> {
  const taken = await budget.take();
  if (!('silentMilliseconds' in taken)) throw new Error('A request was allowed.');
  return taken.silentMilliseconds;
}

function budgetOf(of: Warehouse, clientId: string, requestsPer10s = 100): ApiBudget {
  return openApiBudget(of, { apiAddress: 'https://api.example.com', clientId, requestsPer10s });
}
