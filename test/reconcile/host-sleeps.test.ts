import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { proofTest } from '../support/proof-test.ts';
import { at } from '../replication/scripted-service.ts';
import { createCompanies } from './company.ts';
import { noHalt, reconcileWithHalt, type Halt } from './reconcile-with-halt.ts';

const { warehouse, company } = await createCompanies();
const minute = 60_000;

/**
 * Makes the host sleep before a transaction of the last step. 1: the company; 2: whether it begins again; 3: the number absent; 4: the
 * first batch of deletions.
 */
function sleepBefore(beforeTransaction: number, onHalt: () => Promise<void>): Halt {
  return { name: 'settleResource', beforeTransaction, resume: Promise.resolve(), onHalt };
}

test('a host that sleeps between the check and the deletion deletes no re-created record', async () => {
  const all = ['a', 'b', 'c', 'x'].map((id) => bill(id));
  const { service, advance, now } = await company({ bills: all });
  service.lists.bills = all.slice(0, 3);
  const run = await reconcileWithHalt(
    warehouse,
    service,
    ['bills'],
    sleepBefore(4, async () => {
      await advance(8 * 60 * minute);
      service.lists.bills = [
        ...all.slice(0, 3),
        bill('x', { last_synced_at: at(now() - 60 * minute), memo: '"again"' }),
      ];
    }),
  );
  const first = await service.rows(
    `select id, deleted_at from finance.deleted_records where connection_id = $1`,
  );
  expect({ run: run.status, first, ids: await service.ids('bills') }).toMatchObject({
    first: [],
    ids: ['a', 'b', 'c', 'x'],
  });
});

test('a response without a Date header before the deletion does not hide that the host slept', async () => {
  const all = ['a', 'b', 'c', 'x'].map((id) => bill(id));
  const { service, advanceService, now } = await company({ bills: all });
  service.lists.bills = all.slice(0, 3);
  const run = await reconcileWithHalt(warehouse, service, ['bills'], {
    ...noHalt,
    onCall(name) {
      if (name !== 'settleResource') return Promise.resolve();
      const usual = service.date;
      let first = true;
      service.date = () => (first ? ((first = false), null) : usual());
      advanceService(8 * 60 * minute);
      service.lists.bills = [
        ...all.slice(0, 3),
        bill('x', { last_synced_at: at(now() - 60 * minute), memo: '"again"' }),
      ];
      return Promise.resolve();
    },
  });
  const ids = await service.ids('bills');
  expect({ run: run.status, ids }).toMatchObject({ ids: ['a', 'b', 'c', 'x'] });
});

test('an absence found before a night of sleep does not ask for approval', async () => {
  const all = Array.from({ length: 10 }, (_, n) => bill(`b${n}`));
  const { service, advance } = await company({ bills: all });
  service.lists.bills = [];
  const run = await reconcileWithHalt(
    warehouse,
    service,
    ['bills'],
    sleepBefore(4, async () => {
      await advance(8 * 60 * minute);
      service.lists.bills = all;
    }),
  );
  expect(run).toMatchObject({ streams: [{ failure_type: 'NotEqual' }] });
});

proofTest('a host that sleeps between two batches of deletions deletes no re-created record', async () => {
  const all = Array.from({ length: 6_000 }, (_, n) =>
    bill(`b${String(n).padStart(4, '0')}`, { line_items: '[]' }),
  );
  const { service, advance, now } = await company({ bills: all });
  service.lists.bills = all.slice(1_100);
  let slept = false;
  const run = await reconcileWithHalt(
    warehouse,
    service,
    ['bills'],
    sleepBefore(5, async () => {
      // Transaction 4 deletes a thousand, 5 the rest.
      slept = true;
      await advance(8 * 60 * 60_000);
      service.lists.bills = Array.from({ length: 6_000 }, (_, n) =>
        n < 1_100
          ? bill(`b${String(n).padStart(4, '0')}`, {
              line_items: '[]',
              last_synced_at: at(now() - 60 * 60_000),
            })
          : (all[n] ?? ''),
      );
    }),
  );
  const deleted = await service.rows(
    `select count(*)::int as n from sync.tombstones where connection_id = $1`,
  );
  expect({ slept, status: run.status, deleted }).toMatchObject({ deleted: [{ n: 1_000 }] });
});
