import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bill, subscription } from '../support/finance-records.ts';
import { page } from '../replication/scripted-service.ts';
import { createCompanies } from './company.ts';
import { reconcileWithHalt } from './reconcile-with-halt.ts';

// A given-up attempt continues after a new beginning of the listing has found something else.
const { warehouse, company } = await createCompanies();
const minute = 60_000;

test('a late attempt of an earlier step does not delete records that wait for approval', async () => {
  const all = Array.from({ length: 200 }, (_, n) => bill(`b${String(n).padStart(3, '0')}`));
  const { service, advance } = await company({ bills: all });
  // Three are gone, too few to ask for approval.
  service.lists.bills = all.slice(3);
  let resume: () => void = () => undefined;
  const resumed = new Promise<void>((resolve) => {
    resume = resolve;
  });
  const run = await reconcileWithHalt(warehouse, service, ['bills'], {
    name: 'settleResource',
    // 1: whether it begins again; 2: the number absent; 3: the first batch of deletions.
    beforeTransaction: 3,
    resume: resumed,
    async onHalt() {
      // Its worker stalls for a quarter of an hour; 150 more vanish from the source meanwhile.
      service.lists.bills = all.slice(153);
      await advance(15 * minute);
    },
  });
  const question = await service.rows(
    `select count(*)::int as waiting from sync.discrepancies where connection_id = $1 and status = 'confirmed' and closed_at is null`,
  );
  const before = (await service.ids('bills')).length;
  // The reconcile has ended, and asks a person. The worker continues.
  resume();
  await sleep(2_000);
  const after = (await service.ids('bills')).length;
  const stream = await service.rows(
    `select status, failure_type, deleted::int from sync.run_streams where connection_id = $1 and run_id = '${run.id}'`,
  );
  expect({ question, status: run.status, before, after, stream }).toEqual({
    question: [{ waiting: 153 }],
    status: 'partial',
    before: 200,
    after: 200,
    stream: [{ status: 'partial', failure_type: 'ApprovalNeeded', deleted: 0 }],
  });
});

test('a late attempt that writes its proof does not make a reconcile of half a listing succeed', async () => {
  const [s1, s2] = ['s1', 's2'].map((id) => subscription(id));
  const { service, advance } = await company({ subscriptions: [s1 ?? '', s2 ?? ''] });
  let resume: () => void = () => undefined;
  const resumed = new Promise<void>((resolve) => {
    resume = resolve;
  });
  const fresh = ['n1', 'n2'].map((id) => subscription(id));
  let beginnings = 0;
  service.onList = async (_, query) => {
    if (query.get('cursor') === null) {
      beginnings += 1;
      return page(service, 'subscriptions', [s1 ?? '', s2 ?? ''], beginnings === 1 ? null : 'next');
    }
    // The stalled worker continues while the second page is requested.
    resume();
    await sleep(2_000);
    return page(service, 'subscriptions', fresh);
  };
  const run = await reconcileWithHalt(warehouse, service, ['subscriptions'], {
    name: 'settleResource',
    // 1: whether it begins again; 2: the number absent; 3: no deletions; 4: the proof.
    beforeTransaction: 4,
    resume: resumed,
    async onHalt() {
      // A quarter of an hour passes, in which the service copies a batch of older records.
      await advance(15 * minute);
    },
  });
  const ids = await service.ids('subscriptions');
  // Either the run does not report equality, or the rows are equal.
  if (run.status === 'succeeded') expect(ids).toEqual(['n1', 'n2', 's1', 's2']);
});

test('a reconcile that was killed and started over does not delete all records of a resource without approval', async () => {
  const all = Array.from({ length: 10 }, (_, n) => bill(`b${n}`));
  const { service, advance } = await company({ bills: all });
  service.lists.bills = all.slice(9);
  const run = await reconcileWithHalt(warehouse, service, ['bills'], {
    name: 'settleResource',
    // Killed after its deletions, before the proof. 1: whether it begins again; 2: the number absent; 3, 4: deletions; 5: the proof.
    beforeTransaction: 5,
    resume: new Promise(() => undefined),
    async onHalt() {
      service.lists.bills = [];
      await advance(15 * minute);
    },
  });
  expect({ run, ids: await service.ids('bills') }).toMatchObject({
    run: { status: 'partial', streams: [{ failure_type: 'ApprovalNeeded' }] },
    ids: ['b9'],
  });
});

test('a reconcile that was killed and started over does not exceed the delete limit without approval', async () => {
  const all = Array.from({ length: 100 }, (_, n) => bill(`b${String(n).padStart(3, '0')}`));
  const { service, advance } = await company({ bills: all });
  service.lists.bills = all.slice(50);
  const run = await reconcileWithHalt(warehouse, service, ['bills'], {
    name: 'settleResource',
    beforeTransaction: 5,
    resume: new Promise(() => undefined),
    async onHalt() {
      service.lists.bills = all.slice(99);
      await advance(15 * minute);
    },
  });
  // 99 of 100, and the limit is 20 %.
  expect({ run, held: (await service.ids('bills')).length }).toMatchObject({
    run: { status: 'partial', streams: [{ failure_type: 'ApprovalNeeded' }] },
    held: 50,
  });
});
