import { bill, customer } from '../../support/finance-records.ts';
import { buildDeletionEvent } from '../../support/land-events.ts';
import { at, page, type Answer, type ScriptedService } from '../scripted-service.ts';
import { longAgo, old, runStatus, type Scenario } from './scenario.ts';

const bills = ['bills'];
const both = ['bills', 'customers'];

/** Runs that read lists. */
export const reads: readonly Scenario[] = [
  {
    name: 'a first sync',
    expectedStatus: 'succeeded',
    resources: both,
    repairedBy: 'syncs',
    async prepare(service: ScriptedService): Promise<void> {
      service.lists = { bills: threeInOrder(), customers: [customer('k')] };
      service.onList = oneByOne(service);
      return Promise.resolve();
    },
    run: async (service) => runStatus(await service.sync(both)),
  },
  {
    name: 'a sync',
    expectedStatus: 'succeeded',
    resources: both,
    repairedBy: 'syncs',
    async prepare(service: ScriptedService): Promise<void> {
      service.lists = { bills: old('a', 'b', 'c'), customers: [customer('k')] };
      await service.sync(both);
      service.lists.bills = [
        bill('a', { memo: '"new"', last_synced_at: at(-3_000) }),
        bill('c', { memo: '"c2"', last_synced_at: at(-2_000) }),
        bill('d', { last_synced_at: at(-1_000) }),
      ];
      service.events = [buildDeletionEvent('b', new Date().toISOString())];
      service.onList = oneByOne(service);
    },
    run: async (service) => runStatus(await service.sync(both)),
  },
  {
    name: 'a sync whose cursor is refused',
    expectedStatus: 'succeeded',
    resources: bills,
    repairedBy: 'syncs',
    async prepare(service: ScriptedService): Promise<void> {
      service.lists = { bills: threeInOrder() };
      const answer = oneByOne(service);
      let isRefused = false;
      service.onList = (resource, query) => {
        if (query.get('cursor') !== '2' || isRefused) return answer(resource, query);
        isRefused = true;
        const body = '{"error_code":"INVALID_CURSOR","error_type":"INVALID_REQUEST_ERROR"}';
        return { status: 400, body };
      };
      return Promise.resolve();
    },
    run: async (service) => runStatus(await service.sync(bills)),
  },
  {
    name: 'a sync after the service has put its clock back',
    expectedStatus: 'succeeded',
    resources: bills,
    repairedBy: 'syncs',
    async prepare(service: ScriptedService): Promise<void> {
      const recent = ['a', 'b', 'c'].map((id) => bill(id, { last_synced_at: at(-5_000) }));
      service.lists = { bills: recent };
      await service.sync(bills);
      const back = -2 * 3_600_000;
      service.date = () => new Date(Date.now() + back);
      service.lists.bills = [...recent, bill('d', { last_synced_at: at(back + 500) })];
    },
    run: async (service) => runStatus(await service.sync(bills)),
  },
  {
    name: 'a backfill',
    expectedStatus: 'succeeded',
    resources: bills,
    repairedBy: 'the same again',
    async prepare(service: ScriptedService): Promise<void> {
      service.lists = { bills: [] };
      await service.sync(bills);
      service.lists.bills = ['01', '02', '03'].map((month) =>
        bill(month, { updated_at: `"2024-${month}-10T00:00:00.000Z"`, last_synced_at: at(10 * longAgo) }),
      );
      service.onList = (_, query) => {
        if (!query.has('updated_at_min')) return undefined;
        const [from, to] = [
          Number(query.get('updated_at_min')),
          Number(query.get('updated_at_max') ?? Infinity),
        ];
        const isIn = (text: string): boolean => {
          const updatedAt = parseTime(text, 'updated_at');
          return updatedAt >= from && updatedAt <= to;
        };
        return page(service, 'bills', (service.lists.bills ?? []).filter(isIn));
      };
    },
    run: async (service) =>
      runStatus(await service.backfill(bills, { from: '2024-01-01', to: '2024-03-31' })),
  },
];

function threeInOrder(): string[] {
  return ['a', 'b', 'c'].map((id, place) => bill(id, { last_synced_at: at(longAgo + place * 1_000) }));
}

/** Answers with pages of one bill each. */
function oneByOne(service: ScriptedService): (resource: string, query: URLSearchParams) => Answer {
  return (resource, query) => {
    if (resource !== 'bills') return undefined;
    const floor = Number(query.get('last_synced_at_min') ?? -Infinity);
    const shown = (service.lists.bills ?? []).filter((text) => parseTime(text, 'last_synced_at') >= floor);
    const place = Number(query.get('cursor') ?? 0);
    const next = place + 1 < shown.length ? String(place + 1) : null;
    return page(service, 'bills', shown.slice(place, place + 1), next);
  };
}

function parseTime(text: string, field: string): number {
  return Date.parse((JSON.parse(text) as Record<string, string>)[field] ?? '');
}
