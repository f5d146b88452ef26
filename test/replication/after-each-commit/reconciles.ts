import { bill, expense, subscription } from '../../support/finance-records.ts';
import { readWaitingDeletions } from '../../../warehouse/reconcile/read-waiting-deletions.ts';
import { buildQuestion } from '../../../warehouse/reconcile/deletion-question.ts';
import { syncAmbiguousDeletion } from '../ambiguous-deletion.ts';
import { at, page, type ScriptedService } from '../scripted-service.ts';
import { longAgo, old, runStatus, type Scenario } from './scenario.ts';

type ScenarioInput = Pick<Scenario, 'name' | 'prepare'> & Partial<Scenario>;

/** Runs that compare whole lists, which alone find the differences of these scenarios. */
export const reconciles: readonly Scenario[] = [
  billScenario({
    name: 'a reconcile requested by a deletion',
    prepare: (service) => syncAmbiguousDeletion(service, [bill('b'), bill('c')]),
    repairedBy: 'syncs',
  }),
  billScenario({
    name: 'a reconcile requested by a deletion, beside a record that cannot be stored',
    expectedStatus: 'partial',
    repairedBy: 'syncs',
    prepare: (service) => syncAmbiguousDeletion(service, [bill('b'), bill('c'), unstorable('bad')]),
  }),
  billScenario({
    name: 'a reconcile of bills of which more than half are gone at the source',
    async prepare(service: ScriptedService): Promise<void> {
      service.lists = { bills: old('a', 'b', 'c', 'd', 'e') };
      await service.sync(['bills']);
      service.lists.bills = old('a', 'b');
    },
  }),
  billScenario({
    name: 'a reconcile of bills of which a second listing decides',
    async prepare(service: ScriptedService): Promise<void> {
      service.lists = { bills: old('a', 'b', 'c', 'd') };
      await service.sync(['bills']);
      service.lists.bills = old('a', 'b', 'c');
      // The response does not show whether the record exists.
      service.onFetch = () => ({ status: 404, body: '{}' });
      service.onList = (_, query) => {
        if (query.has('last_synced_at_min')) return undefined;
        const shown = service.lists.bills ?? [];
        return query.get('cursor') === null
          ? page(service, 'bills', shown.slice(0, 1), 'more')
          : page(service, 'bills', shown.slice(1));
      };
    },
  }),
  billScenario({
    name: 'a reconcile of bills of which one that could not be stored is gone at the source',
    async prepare(service: ScriptedService): Promise<void> {
      service.lists = { bills: [...old('a', 'b'), unstorable('z')] };
      await service.sync(['bills']);
      service.lists.bills = old('a', 'b');
    },
  }),
  billScenario({
    name: 'a reconcile of bills of which a row was lost, and the record is gone',
    async prepare(service: ScriptedService): Promise<void> {
      service.lists = { bills: old('a', 'b', 'c') };
      await service.sync(['bills']);
      await service.rows(`delete from finance.bills where connection_id = $1 and id = 'b'`);
      service.lists.bills = old('a', 'c');
    },
  }),
  {
    ...reconcileScenario('expenses'),
    name: 'a reconcile of expenses: a refund now, an older version, and one that is gone',
    async prepare(service: ScriptedService): Promise<void> {
      const last_synced_at = at(longAgo);
      service.lists = { expenses: ['a', 'b', 'c', 'd'].map((id) => expense(id, { last_synced_at })) };
      await service.sync(['expenses']);
      service.lists.expenses = [
        expense('a', { expense_type: '"refund"', last_synced_at: at() }),
        expense('b', { memo: '"older"', last_synced_at: at(longAgo - 100_000) }),
        expense('d', { last_synced_at }),
      ];
    },
  },
  {
    ...reconcileScenario('subscriptions'),
    name: 'a reconcile of subscriptions of which half are gone',
    async prepare(service: ScriptedService): Promise<void> {
      const subscriptions = (...ids: string[]): string[] =>
        ids.map((id) => subscription(id, { updated_at: at(50 * longAgo) }));
      service.lists = { subscriptions: subscriptions('a', 'b', 'c', 'd') };
      await service.sync(['subscriptions']);
      service.lists.subscriptions = subscriptions('a', 'd');
    },
  },
  billScenario({
    name: 'an approval',
    async prepare(service: ScriptedService): Promise<void> {
      service.lists = { bills: old('a', 'b', 'c') };
      await service.sync(['bills']);
      service.lists.bills = [];
      await service.reconcile(['bills']);
    },
    async run(service: ScriptedService): Promise<string> {
      const { warehouse, connection: connectionId } = service;
      const question = buildQuestion(await readWaitingDeletions(warehouse, { connectionId }));
      return runStatus(await service.approve(['bills'], question));
    },
  }),
];

function billScenario(input: ScenarioInput): Scenario {
  return { ...reconcileScenario('bills'), ...input };
}

function reconcileScenario(resource: string): Omit<Scenario, 'name' | 'prepare'> {
  return {
    expectedStatus: 'succeeded',
    resources: [resource],
    repairedBy: 'the same again',
    run: async (service) => runStatus(await service.reconcile([resource])),
  };
}

function unstorable(id: string): string {
  return bill(id, { total_amount: '"much"', last_synced_at: at(longAgo) });
}
