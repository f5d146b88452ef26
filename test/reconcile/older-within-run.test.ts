import { expect, test } from 'vitest';
import { bill, subscription } from '../support/finance-records.ts';
import type { Row } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { at, page, type ScriptedService } from '../replication/scripted-service.ts';
import { createServiceStarter } from '../replication/serve.ts';

// The clock of the platform (for subscriptions), or of the service, is corrected while a reconcile lists.
const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);
const hour = 3_600_000;

const canceledSubscription = (amount: string, version: string): string =>
  subscription('r', {
    updated_at: version,
    status: '"canceled"',
    items: `[{"platform_id":"p-1","interval":"month","interval_count":1,"quantity":2,"amount":${amount},"unit_amount":499.5}]`,
  });

async function readHeld(service: ScriptedService): Promise<Row | undefined> {
  const [held] = await service.rows(
    `select status, amount::text from finance.subscriptions s
     join finance.subscription_items i on i.connection_id = s.connection_id and i.subscription_id = s.id
     where s.connection_id = $1 and id = 'r'`,
  );
  return held;
}

test('a second page with other content in an older version than the first page does not lead to a false success', async () => {
  const service = await serve();
  const [s1 = '', s2 = '', s3 = ''] = [1, 2, 3].map((n) => subscription(`s${n}`));
  service.lists = { subscriptions: [s1, s2, s3] };
  await service.sync(['subscriptions']);
  // r is new, and the platform's clock is two hours ahead. After the first page the clock is corrected, and r is canceled, so it stands on
  // the second page.
  const wrong = subscription('r', { updated_at: at(2 * hour), status: '"active"' });
  const after = canceledSubscription('999', at(-1_000));
  service.onList = (_, query) => {
    if (query.has('updated_at_min')) return undefined;
    return query.get('cursor') === null
      ? page(service, 'subscriptions', [wrong, s1], 'next')
      : page(service, 'subscriptions', [after, s2, s3]);
  };
  service.lists.subscriptions = [after, s1, s2, s3];
  const run = await service.reconcile(['subscriptions']);
  await service.sync(['subscriptions']);
  const held = await readHeld(service);
  if (run.status === 'succeeded') expect(held).toEqual({ status: 'canceled', amount: '999' });
});

test('a second listing with other content in an older version than the first does not lead to a false success', async () => {
  const service = await serve();
  const [s1 = '', s2 = '', s3 = ''] = [1, 2, 3].map((n) => subscription(`s${n}`));
  service.lists = { subscriptions: [s1, s2, s3] };
  await service.sync(['subscriptions']);
  const wrong = subscription('r', { updated_at: at(2 * hour), status: '"active"' });
  const after = canceledSubscription('999', at(-1_000));
  let listings = 0;
  // s3 is gone, so everything is listed twice.
  service.onList = (_, query) => {
    if (query.has('updated_at_min')) return undefined;
    listings += 1;
    return page(service, 'subscriptions', [listings === 1 ? wrong : after, s1, s2]);
  };
  service.lists.subscriptions = [after, s1, s2];
  const run = await service.reconcile(['subscriptions']);
  await service.sync(['subscriptions']);
  const held = await readHeld(service);
  if (run.status === 'succeeded') expect(held).toEqual({ status: 'canceled', amount: '999' });
});

test('a future version with equal content is repaired, and a later edit lands, even without a Date header', async () => {
  for (const dated of [true, false]) {
    const service = await serve();
    if (!dated) service.date = () => null;
    service.lists = { bills: [bill('a'), bill('r')] };
    await service.sync(['bills']);
    await service.reconcile(['bills']);
    // Damage made without Daybook.
    await service.rows(
      `update finance.bills set last_synced_at = '2099-01-01' where connection_id = $1 and id = 'r' returning id`,
    );
    const run = await service.reconcile(['bills']);
    const [{ version } = {}] = await service.rows(
      `select last_synced_at::text as version from finance.bills where connection_id = $1 and id = 'r'`,
    );
    service.lists.bills = [bill('a'), bill('r', { last_synced_at: at(0), memo: '"edited"' })];
    await service.sync(['bills']);
    const [{ memo } = {}] = await service.rows(
      `select memo from finance.bills where connection_id = $1 and id = 'r'`,
    );
    expect.soft({ dated, run: run.status, version, memo }).toMatchObject({
      run: 'succeeded',
      version: expect.not.stringMatching(/^2099/) as string,
      memo: 'edited',
    });
  }
});

// Known and open: docs/proof.md.
test.fails('a sync page in flight does not restore a version that a reconcile has overruled', async () => {
  const service = await serve();
  const wrong = bill('r', { last_synced_at: at(2 * hour), memo: '"wrong"', total_amount: '1' });
  const corrected = bill('r', { last_synced_at: at(-5_000), memo: '"right"', total_amount: '2' });
  service.lists = { bills: [bill('a'), wrong] };
  await service.sync(['bills']);
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let held = false;
  const before = new Date();
  let isLate = false;
  service.date = () => {
    const now = isLate ? before : new Date();
    isLate = false;
    return now;
  };
  service.onList = async (_, query) => {
    if (!query.has('last_synced_at_min') || held) return undefined;
    held = true;
    // Answered before the clock is corrected, but slow to arrive.
    const answer = page(service, 'bills', [wrong]);
    await released;
    isLate = true;
    return answer;
  };
  const sync = service.sync(['bills']);
  await new Promise((resolve) => setTimeout(resolve, 500));
  service.lists.bills = [bill('a'), corrected];
  const run = await service.reconcile(['bills']);
  const afterReconcile = await service.rows(
    `select memo from finance.bills where connection_id = $1 and id = 'r'`,
  );
  release();
  const { status } = await sync;
  const afterSync = await service.rows(
    `select memo from finance.bills where connection_id = $1 and id = 'r'`,
  );
  const again = await service.sync(['bills']);
  const afterAnother = await service.rows(
    `select memo from finance.bills where connection_id = $1 and id = 'r'`,
  );
  expect({
    run: run.status,
    status,
    again: again.status,
    afterReconcile,
    afterSync,
    afterAnother,
  }).toMatchObject({
    afterReconcile: [{ memo: 'right' }],
    afterAnother: [{ memo: 'right' }],
  });
});
