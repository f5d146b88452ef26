import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bill, subscription } from '../support/finance-records.ts';
import { at, page } from '../replication/scripted-service.ts';
import { createCompanies } from './company.ts';
import { reconcileWithHalt } from './reconcile-with-halt.ts';

const { warehouse, company } = await createCompanies();
const minute = 60_000;

function gate(): { open: () => void; opened: Promise<void> } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

test('a reconcile whose host and clock slept overnight before the deletions does not falsely succeed', async () => {
  const { service, advanceService, now } = await company({ bills: ['a', 'b', 'r'].map((id) => bill(id)) });
  service.lists.bills = ['a', 'b'].map((id) => bill(id));
  const run = await reconcileWithHalt(warehouse, service, ['bills'], {
    name: 'settleResource',
    beforeStatement: 1,
    resume: new Promise(() => undefined),
    onHalt() {
      advanceService(15 * 60 * minute);
      // During the night r was recreated, a was edited, and b deleted.
      const morning = at(now() - minute);
      service.lists.bills = [
        bill('a', { last_synced_at: morning, total_amount: '7' }),
        bill('r', { last_synced_at: morning }),
      ];
      return Promise.resolve();
    },
  });
  const held = await service.rows(
    `select id, total_amount::text as total from finance.bills where connection_id = $1 order by id`,
  );
  if (run.status === 'succeeded')
    expect(held).toEqual([
      { id: 'a', total: '7' },
      { id: 'r', total: '110.25' },
    ]);
});

test('a late attempt that opens the second listing does not make one listing count as two', async () => {
  const all = ['s1', 's2', 's3', 's4', 'r'].map((id) => subscription(id));
  const [s1 = '', s2 = '', s3 = '', s4 = '', r = ''] = all;
  const { service, advance } = await company({ subscriptions: [...all, subscription('gone')] });
  const late = gate();
  let firstPages = 0;
  service.onList = async (_, query) => {
    if (query.has('updated_at_min')) return undefined;
    if (query.get('cursor') === null) {
      firstPages += 1;
      return page(service, 'subscriptions', [s1, s2], `next-${firstPages}`);
    }
    // 1, 2: the two listings of the evening. 3: the listing of the morning; r moves to the front once its first page has been read.
    if (firstPages === 3) {
      late.open();
      await sleep(1_000);
      return page(service, 'subscriptions', [s3, s4]);
    }
    return page(service, 'subscriptions', [s3, s4, r]);
  };
  service.lists.subscriptions = all;
  let settles = 0;
  await reconcileWithHalt(warehouse, service, ['subscriptions'], {
    name: 'listAgain',
    beforeStatement: 1,
    resume: late.opened,
    onHalt: () => Promise.resolve(),
    onCall: async (name) => {
      if (name !== 'settleResource') return;
      settles += 1;
      // No worker runs for a quarter of an hour, so everything is listed again.
      if (settles === 1) await advance(15 * minute);
    },
  });
  const ids = await service.ids('subscriptions');
  expect({ ids }).toEqual({ ids: ['r', 's1', 's2', 's3', 's4'] });
});

test('a late fetch response from before a listing started over does not replace a newer version with an older one', async () => {
  const held = bill('r', { last_synced_at: at(-60 * minute), memo: '"held"' });
  const { service, advance, now } = await company({ bills: [bill('a'), held] });
  // The service's clock is ahead for a moment, and is corrected. The held version has to give way to the one that a fetch shows.
  const wrong = bill('r', { last_synced_at: at(60 * minute), memo: '"of a clock that was ahead"' });
  service.lists.bills = [bill('a'), wrong];
  await service.deliverWebhook('UPDATED', wrong);
  service.lists.bills = [bill('a'), held];
  const late = gate();
  let settles = 0;
  service.onList = (_, query) => {
    if (query.has('last_synced_at_min')) return undefined;
    // The list lags by some seconds.
    return page(service, 'bills', [bill('a'), held]);
  };
  const run = await reconcileWithHalt(warehouse, service, ['bills'], {
    name: 'confirmByFetch',
    // The transaction that lands.
    beforeTransaction: 2,
    resume: late.opened,
    onHalt: () => Promise.resolve(),
    onCall: async (name) => {
      if (name === 'settleResource') {
        settles += 1;
        if (settles > 1) return;
        await advance(15 * minute);
        // In the morning r is edited, and a webhook brings the edit.
        const newest = bill('r', { last_synced_at: at(now() - 5_000), memo: '"newest"' });
        service.lists.bills = [bill('a'), newest];
        await service.deliverWebhook('UPDATED', newest);
      }
      if (name === 'confirmByFetch' && settles === 1) {
        late.open();
        await sleep(1_000);
      }
    },
  });
  const [memo] = await service.rows(`select memo from finance.bills where connection_id = $1 and id = 'r'`);
  if (run.status === 'succeeded') expect(memo).toEqual({ memo: 'newest' });
  expect(memo).toEqual({ memo: 'newest' });
});
