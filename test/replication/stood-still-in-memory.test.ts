import { describe, expect, test } from 'vitest';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { bill, expense } from '../support/finance-records.ts';
import { skewClock } from '../support/skewed-clock.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { page, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

// The clocks of the service and of the database advance together.
const { url } = await createTestDatabase();
const skewed = await skewClock(url);
const warehouse = openWarehouse({ url: skewed.url, connections: 10 });
const serve = createServiceStarter(warehouse);
const minute = 60_000;
const night = 15 * 60 * minute;

describe('a warehouse equals the API after a reconcile that succeeded', () => {
  test('even if the only page of its listing was held in memory overnight', async () => {
    const { service, clock } = await company({ bills: ['a', 'b', 'r'].map((id) => bill(id)) });
    let evening: Date | null = null;
    service.date = () => {
      const date = evening ?? new Date(Date.now() + clock.now);
      evening = null;
      return date;
    };
    let nights = 0;
    service.onList = async () => {
      nights += 1;
      if (nights > 1) return undefined;
      const answer = page(
        service,
        'bills',
        ['a', 'b', 'r'].map((id) => bill(id)),
      );
      evening = new Date(Date.now() + clock.now);
      // The laptop sleeps with the response in memory, and lands it in the morning. During the night r is deleted.
      service.lists.bills = ['a', 'b'].map((id) => bill(id));
      await clock.advance(night);
      return answer;
    };
    const run = await service.reconcile(['bills']);
    expect({ status: run.status, ids: await service.ids('bills') }).toEqual({
      status: 'succeeded',
      ids: ['a', 'b'],
    });
  });
});

describe('a listing that takes hours without a pause is read once', () => {
  test('even if one list of the resource is long, the other short, and absent records are fetched', async () => {
    const shown = ['1', '2', '3', '4', '5', '6'].map((n) => refund(`r${n}`));
    const { service, clock } = await company({ expenses: [expense('e1'), expense('e2'), ...shown] });
    service.lists.expenses = [expense('e1'), ...shown];
    let beginnings = 0;
    service.onList = async (_, query) => {
      if (query.get('expense_type') !== 'refund') return undefined;
      const place = Number(query.get('cursor'));
      // Time passes by request here, so the other list has to be complete before that.
      await service.untilListed('expenses');
      if (place === 0) beginnings += 1;
      await clock.advance(4 * minute);
      const next = place === 5 ? null : String(place + 1);
      return page(service, 'expenses', shown.slice(place, place + 1), next);
    };
    const run = await service.reconcile(['expenses']);
    expect({ status: run.status, beginnings }).toEqual({ status: 'succeeded', beginnings: 1 });
  });

  test('even if the list lags whenever it is read, so that every reconcile has records to fetch', async () => {
    const shown = ['1', '2', '3', '4', '5', '6'].map((n) => refund(`r${n}`));
    const { service, clock } = await company({ expenses: [expense('e1'), ...shown] });
    let fresh = 0;
    service.onList = async (_, query) => {
      if (query.get('expense_type') !== 'refund') return undefined;
      const place = Number(query.get('cursor'));
      await service.untilListed('expenses');
      await clock.advance(4 * minute);
      const next = place === 5 ? null : String(place + 1);
      return page(service, 'expenses', shown.slice(place, place + 1), next);
    };
    const statuses: unknown[] = [];
    for (let day = 0; day < 2; day += 1) {
      // A record that the list does not show, but a fetch does.
      fresh += 1;
      service.lists.expenses = [
        expense('e1'),
        ...shown,
        refund(`n${fresh}`, new Date(Date.now() + clock.now - 1_000).toISOString()),
      ];
      const { onList } = service;
      service.onList = () => undefined;
      await service.sync(['expenses']);
      service.onList = onList;
      statuses.push((await service.reconcile(['expenses'])).status);
    }
    expect(statuses).toEqual(['succeeded', 'succeeded']);
  });
});

async function company(lists: ScriptedService['lists']): Promise<{
  service: ScriptedService;
  clock: { now: number; advance(milliseconds: number): Promise<void> };
}> {
  await skewed.ahead('0');
  const service = await serve();
  const clock = {
    now: 0,
    async advance(milliseconds: number): Promise<void> {
      clock.now += milliseconds;
      await skewed.ahead(`${clock.now} milliseconds`);
    },
  };
  service.date = () => new Date(Date.now() + clock.now);
  service.lists = lists;
  await service.sync(Object.keys(lists));
  return { service, clock };
}

function refund(id: string, version?: string): string {
  return expense(id, {
    expense_type: '"refund"',
    ...(version === undefined ? {} : { last_synced_at: `"${version}"` }),
  });
}
