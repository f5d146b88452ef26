import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { page } from '../replication/scripted-service.ts';
import { createCompanies } from './company.ts';
import { noHalt, reconcileWithHalt } from './reconcile-with-halt.ts';

const { warehouse, company } = await createCompanies();

for (const sameSecond of [true, false])
  test(`a record that the second listing shows is not deleted because of an earlier 410 (re-created in the second of the 410: ${sameSecond})`, async () => {
    const all = ['a', 'b', 'c', 'x', 'y'].map((id) => bill(id));
    const { service } = await company({ bills: all });
    const second = Math.floor(Date.now() / 1_000) * 1_000 - 1_000;
    service.date = () => new Date(second + 100);
    const again = sameSecond
      ? bill('x', { last_synced_at: JSON.stringify(new Date(second + 500).toISOString()), memo: '"again"' })
      : (all[3] ?? '');
    let fetches = 0;
    service.onFetch = (_, id) => {
      fetches += 1;
      return { status: id === 'x' && fetches === 1 ? 410 : 404, body: '{}' };
    };
    let listings = 0;
    service.onList = (_, query) => {
      if (query.has('last_synced_at_min')) return undefined;
      const cursor = query.get('cursor');
      if (cursor === null) listings += 1;
      const shown = listings < 2 ? all.slice(0, 3) : [...all.slice(0, 3), again];
      if (listings >= 2) service.date = () => new Date();
      if (cursor === null) return page(service, 'bills', shown.slice(0, 1), 'one');
      return cursor === 'one'
        ? page(service, 'bills', shown.slice(1, 2), 'two')
        : page(service, 'bills', shown.slice(2), null);
    };
    const run = await reconcileWithHalt(warehouse, service, ['bills'], noHalt);
    service.onList = () => undefined;
    service.lists.bills = [...all.slice(0, 3), again];
    const ids = await service.ids('bills');
    const next = await service.sync(['bills']);
    const found = await service.rows(
      `select record_id, kind, status, closed_why from sync.discrepancies where connection_id = $1`,
    );
    expect({
      listings,
      fetches,
      found,
      run,
      ids,
      next: next.status,
      after: await service.ids('bills'),
    }).toMatchObject({ ids: ['a', 'b', 'c', 'x'] });
  });

test('a record re-created in the second of its 410, and delivered before the deletion, is not deleted', async () => {
  const all = ['a', 'b', 'c', 'x'].map((id) => bill(id));
  const { service } = await company({ bills: all });
  service.lists.bills = all.slice(0, 3);
  const second = Math.floor(Date.now() / 1_000) * 1_000 - 1_000;
  service.date = () => new Date(second + 100);
  const again = bill('x', {
    last_synced_at: JSON.stringify(new Date(second + 500).toISOString()),
    memo: '"again"',
  });
  const run = await reconcileWithHalt(warehouse, service, ['bills'], {
    ...noHalt,
    async onCall(name) {
      if (name !== 'settleResource' || service.lists.bills?.length === 4) return;
      service.date = () => new Date(second + 600);
      service.lists.bills = [...all.slice(0, 3), again];
      await service.deliverWebhook('CREATED', again);
    },
  });
  service.date = () => new Date();
  const ids = await service.ids('bills');
  const next = await service.sync(['bills']);
  expect({ run: run.status, ids, next: next.status, after: await service.ids('bills') }).toMatchObject({
    ids: ['a', 'b', 'c', 'x'],
    after: ['a', 'b', 'c', 'x'],
  });
});
