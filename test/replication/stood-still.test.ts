import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { bill, expense } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { page, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

// The records listed by a reconcile are of one time, or it says so: a record shown in the evening may be gone in the morning.
const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);
const minute = 60_000;
const night = 15 * 60 * minute;
const away = { status: 503, body: '' };

describe('a warehouse equals the API after a reconcile that succeeded', () => {
  test('even if only the abandoned start of its listing, the evening before, showed a record', async () => {
    const { service, clock } = await company({ bills: ['a', 'b'].map((id) => bill(id)) });
    let beginnings = 0;
    service.onList = (_, query) => {
      if (query.get('cursor') === null) {
        beginnings += 1;
        return page(service, 'bills', [...(beginnings === 1 ? [bill('r')] : []), bill('a')], 'next');
      }
      if (clock.now >= night) return page(service, 'bills', [bill('b')]);
      clock.now += night;
      return away;
    };
    expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('bills')).toEqual(['a', 'b']);
  });

  test('even if its second listing, one night after the first, no longer showed a record', async () => {
    const { service, clock } = await company({ bills: ['a', 'b', 'r', 'x', 'y', 'z'].map((id) => bill(id)) });
    service.lists.bills = ['a', 'b', 'r'].map((id) => bill(id));
    let listings = 0;
    service.onList = () => {
      listings += 1;
      if (listings !== 2) return undefined;
      clock.now += night;
      service.lists.bills = ['a', 'b'].map((id) => bill(id));
      return away;
    };
    expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('bills')).toEqual(['a', 'b']);
  });

  test('even if one list of the resource was read one night before the other', async () => {
    const { service, clock } = await company({ expenses: [expense('e1'), expense('e2'), refund('r1')] });
    service.onList = async (_, query) => {
      if (query.get('expense_type') !== 'refund' || clock.now > 0) return undefined;
      await untilListed(service, 'expenses');
      clock.now += night;
      service.lists.expenses = [expense('e1'), refund('r1')];
      return { status: 429, body: '{}' };
    };
    expect(await service.reconcile(['expenses'])).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('expenses')).toEqual(['e1', 'r1']);
  });

  test('even if its listing stalled for two nights', async () => {
    const { service, clock } = await company({ bills: ['a', 'b', 'r'].map((id) => bill(id)) });
    let beginnings = 0;
    service.onList = (_, query) => {
      if (query.get('cursor') === null) {
        beginnings += 1;
        if (beginnings > 2) service.lists.bills = ['a', 'b'].map((id) => bill(id));
        return page(service, 'bills', beginnings > 2 ? [bill('a')] : [bill('r'), bill('a')], 'next');
      }
      if (clock.now >= beginnings * night || beginnings > 2) return page(service, 'bills', [bill('b')]);
      clock.now += night;
      return away;
    };
    expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('bills')).toEqual(['a', 'b']);
  });

  test('even if absent records could be fetched only in the morning', async () => {
    const { service, clock } = await company({ bills: ['a', 'b', 'r'].map((id) => bill(id)) });
    service.lists.bills = ['a', 'r'].map((id) => bill(id));
    service.onFetch = () => {
      if (clock.now > 0) return undefined;
      clock.now += night;
      service.lists.bills = [bill('a')];
      return { status: 429, body: '{}' };
    };
    expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('bills')).toEqual(['a']);
  });
});

test('a reconcile whose listing stalls every time says so, and does not report equality', async () => {
  const { service, clock } = await company({ bills: ['a', 'b'].map((id) => bill(id)) });
  let beginnings = 0;
  let waited = false;
  service.onList = (_, query) => {
    if (query.get('cursor') === null) {
      beginnings += 1;
      return page(service, 'bills', [bill('a')], 'next');
    }
    waited = !waited;
    if (!waited) return page(service, 'bills', [bill('b')]);
    clock.now += night;
    return away;
  };
  const run = await service.reconcile(['bills']);
  expect(run).toMatchObject({ status: 'partial', streams: [{ stream: 'bills', failure_type: 'NotEqual' }] });
  expect(beginnings).toBe(4);
  const [{ failure } = {}] = await service.rows(
    `select failure from sync.run_streams where connection_id = $1 and failure_type = 'NotEqual'`,
  );
  expect(failure).toBe(
    'The listing of bills stood still for more than 10 minutes, each time that it was begun, and what it showed before may be gone: ' +
      'nothing proves that source and warehouse are equal. The next reconcile lists them again.',
  );
  service.onList = () => undefined;
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
});

describe('a listing that takes hours without a pause is not restarted', () => {
  test('even if one list of the resource is long, the other short, and both are listed twice', async () => {
    const shown = ['1', '2', '3', '4', '5', '6'].map((n) => expense(`e${n}`));
    const { service, clock } = await company({
      expenses: [...shown, ...['7', '8', '9', '10', '11', '12', '13', '14'].map((n) => expense(`e${n}`))],
    });
    service.lists.expenses = [...shown, refund('r1')];
    let beginnings = 0;
    service.onList = (_, query) => {
      if (query.get('expense_type') === 'refund') return undefined;
      const place = Number(query.get('cursor'));
      if (place === 0) beginnings += 1;
      clock.now += 9 * minute;
      const next = place === 5 ? null : String(place + 1);
      return page(service, 'expenses', shown.slice(place, place + 1), next);
    };
    expect(await service.reconcile(['expenses'])).toMatchObject({ status: 'succeeded' });
    expect(beginnings).toBe(2);
    expect(await service.ids('expenses')).toHaveLength(7);
  });

  test('even if the fetches of absent records take hours', async () => {
    const all = ['a', 'b', 'c', 'd'].map((id) => bill(id));
    const { service, clock } = await company({ bills: all });
    service.lists.bills = all.slice(0, 1);
    let listings = 0;
    service.onList = (_, query) => {
      listings += 1;
      const place = Number(query.get('cursor'));
      return page(service, 'bills', place === 0 ? all.slice(0, 1) : [], place < 3 ? String(place + 1) : null);
    };
    service.onFetch = () => {
      clock.now += 9 * minute;
      return undefined;
    };
    expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
    expect(listings).toBe(4);
    expect(await service.ids('bills')).toEqual(['a']);
  });
});

/** A company whose records are held, and the clock of its service. */
async function company(
  lists: ScriptedService['lists'],
): Promise<{ service: ScriptedService; clock: { now: number } }> {
  const service = await serve();
  const clock = { now: 0 };
  service.date = () => new Date(Date.now() + clock.now);
  service.lists = lists;
  await service.sync(Object.keys(lists));
  return { service, clock };
}

function refund(id: string): string {
  return expense(id, { expense_type: '"refund"' });
}

/** Waits until the reconcile has read a list to its end. */
async function untilListed(service: ScriptedService, stream: string): Promise<void> {
  await eventually(async () => {
    const done = await service.rows(
      `select from sync.passes where connection_id = $1 and stream = '${stream}' and completed_at is not null`,
    );
    return done.length > 0 ? true : undefined;
  });
}
