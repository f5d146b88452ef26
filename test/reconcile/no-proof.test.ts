import { expect, test } from 'vitest';
import { bill, subscription } from '../support/finance-records.ts';
import { at, page } from '../replication/scripted-service.ts';
import { createCompanies } from './company.ts';

const { clock, serve } = await createCompanies();
const minute = 60_000;

test('reconciles more frequent than the maximum lag of a list repair what they all show', async () => {
  const service = await serve();
  let now = 0;
  service.date = () => new Date(Date.now() + now);
  const wrong = subscription('r', { updated_at: at(600 * minute), status: '"active"' });
  const right = subscription('r', { updated_at: at(-60 * minute), status: '"canceled"' });
  service.lists = { subscriptions: [subscription('a'), wrong] };
  await service.sync(['subscriptions']);
  service.lists.subscriptions = [subscription('a'), right];
  const statuses: unknown[] = [];
  for (let n = 0; n < 8; n += 1) {
    statuses.push((await service.reconcile(['subscriptions'])).status);
    now += 6 * minute;
    await clock.ahead(`${now} milliseconds`);
  }
  const [held] = await service.rows(
    `select status from finance.subscriptions where connection_id = $1 and id = 'r'`,
  );
  // The same answer for 42 minutes.
  expect({ statuses, held }).toMatchObject({ held: { status: 'canceled' } });
});

test('a reconcile whose host and clock slept with the only page in memory does not falsely succeed', async () => {
  const service = await serve();
  let now = 0;
  let evening: Date | null = null;
  service.date = () => {
    const date = evening ?? new Date(Date.now() + now);
    evening = null;
    return date;
  };
  service.lists = { bills: ['a', 'b', 'r'].map((id) => bill(id)) };
  await service.sync(['bills']);
  service.onList = () => {
    const answer = page(service, 'bills', service.lists.bills ?? []);
    evening = new Date(Date.now() + now);
    service.lists.bills = ['a', 'b'].map((id) => bill(id));
    // The database's clock slept too, so it does not show that a night has passed.
    now += 15 * 60 * minute;
    service.onList = () => undefined;
    return answer;
  };
  const run = await service.reconcile(['bills']);
  const ids = await service.ids('bills');
  if (run.status === 'succeeded') expect(ids).toEqual(['a', 'b']);
});

test('a requested reconcile stays requested when a reconcile proves nothing', async () => {
  const service = await serve();
  let now = 0;
  service.date = () => new Date(Date.now() + now);
  service.lists = { bills: ['a', 'b', 'r'].map((id) => bill(id)) };
  await service.sync(['bills']);
  await service.rows(
    `update sync.streams set reconcile_wanted_at = now() where connection_id = $1 and stream = 'bills' returning stream`,
  );
  service.lists.bills = ['a', 'b'].map((id) => bill(id));
  service.onList = async (_, query) => {
    if (query.get('cursor') === null) return page(service, 'bills', [bill('a')], 'next');
    // This happens three times, but takes less than a day altogether, because this host's clock continues.
    now += 7 * 60 * minute;
    await clock.ahead(`${now} milliseconds`);
    return page(service, 'bills', [bill('b')]);
  };
  const run = await service.reconcile(['bills']);
  const [stream] = await service.rows(
    `select reconcile_wanted_at is not null as wanted from sync.streams where connection_id = $1 and stream = 'bills'`,
  );
  expect({ status: run.status, ids: await service.ids('bills'), wanted: stream?.wanted }).toEqual({
    status: 'partial',
    ids: ['a', 'b', 'r'],
    wanted: true,
  });
});

test('an edit in the second in which the listing began, shown in one version on two pages, is repaired', async () => {
  const service = await serve();
  const old = subscription('r', { updated_at: at(-minute), status: '"active"' });
  const [{ updated_at: version }] = [JSON.parse(old) as { updated_at: string }];
  const edited = subscription('r', {
    updated_at: `"${version}"`,
    status: '"canceled"',
    items:
      '[{"platform_id":"p-1","interval":"month","interval_count":1,"quantity":2,"amount":999,"unit_amount":499.5}]',
  });
  const others = ['s1', 's2'].map((id) => subscription(id));
  service.lists = { subscriptions: [old, ...others] };
  await service.sync(['subscriptions']);
  service.onList = (_, query) => {
    if (query.has('updated_at_min')) return undefined;
    return query.get('cursor') === null
      ? page(service, 'subscriptions', [old, others[0] ?? ''], 'next')
      : page(service, 'subscriptions', [edited, others[1] ?? '']);
  };
  const run = await service.reconcile(['subscriptions']);
  const [held] = await service.rows(
    `select status from finance.subscriptions where connection_id = $1 and id = 'r'`,
  );
  // Repaired, so it may report success.
  expect({ run: run.status, held }).toEqual({ run: 'succeeded', held: { status: 'canceled' } });
});
