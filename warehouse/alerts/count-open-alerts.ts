import type { Warehouse } from '../open-warehouse.ts';

/** How many alerts are open, by kind; kinds without any are not in it. */
export async function countOpenAlerts({ db }: Warehouse): Promise<Record<string, number>> {
  const counts = await db
    .selectFrom('sync.alerts')
    .select(({ fn }) => ['kind', fn.countAll<number>().as('open')])
    .where('resolved_at', 'is', null)
    .groupBy('kind')
    .execute();
  return Object.fromEntries(counts.map(({ kind, open }) => [kind, open]));
}
