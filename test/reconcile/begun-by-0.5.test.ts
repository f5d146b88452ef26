import { expect, test } from 'vitest';
import { at, page } from '../replication/scripted-service.ts';
import { bill } from '../support/finance-records.ts';
import { createCompanies } from './company.ts';
import { noHalt, reconcileWithHalt } from './reconcile-with-halt.ts';

// Workers of 0.5.0 have listed in the evening, without recording answers. They are stopped, the warehouse is migrated, and this release
// continues 8 hours later.
const { warehouse, company } = await createCompanies();

test.each(['at its end', 'halfway'])(
  'a listing from 0.5.0 that stalled overnight %s is read again',
  async (where) => {
    const all = ['a', 'b', 'c', 'x'].map((id) => bill(id));
    const { service } = await company({ bills: all });
    let isMorning = false;
    const overnight = async (): Promise<void> => {
      if (isMorning) return;
      isMorning = true;
      for (const statement of [
        `update sync.passes set started_at = started_at - interval '8 hours', served_from = null, served_until = null,
         answered_from = null, answered_at = null, stood_still_seconds = 0, completed_at = completed_at - interval '8 hours'
       where connection_id = $1 and kind = 'reconcile'`,
        `update sync.runs set started_at = started_at - interval '8 hours' where connection_id = $1`,
        `update finance.bills set _first_seen_at = _first_seen_at - interval '10 hours', _changed_at = _changed_at - interval '10 hours'
       where connection_id = $1`,
      ])
        await service.rows(statement);
      service.lists.bills = [bill('b', { total_amount: '999', last_synced_at: at() }), bill('c'), bill('x')];
    };
    service.onList = async (_, query) => {
      if (query.has('last_synced_at_min')) return undefined;
      const isFirst = query.get('cursor') === null;
      if (!isFirst && where === 'halfway') {
        await expect.poll(() => service.rows(firstPageLanded), { timeout: 20_000 }).toHaveLength(1);
        await overnight();
      }
      const shown = service.lists.bills ?? [];
      return isFirst
        ? page(service, 'bills', shown.slice(0, 2), 'more')
        : page(service, 'bills', shown.slice(2), null);
    };
    const run = await reconcileWithHalt(warehouse, service, ['bills'], {
      ...noHalt,
      onCall: async (name) => (name === 'findAbsent' && where === 'at its end' ? overnight() : undefined),
    });
    expect(isMorning).toBe(true);
    // The lists were read again.
    expect(run.status).toBe('succeeded');
    expect(await service.ids('bills')).toEqual(['b', 'c', 'x']);
  },
);

const firstPageLanded = `select from sync.passes where connection_id = $1 and kind = 'reconcile' and cursor = 'more'`;
