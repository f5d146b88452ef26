import type { Warehouse } from '../open-warehouse.ts';

/** Counts the open alerts by kind; kinds without any are left out. */
export async function countOpenAlerts({ db }: Warehouse): Promise<Record<string, number>> {
  const counts = await db
    .selectFrom('sync.alerts')
    .select(({ fn }) => ['kind', fn.countAll<number>().as('open')])
    .where('resolved_at', 'is', null)
    .groupBy('kind')
    .execute();
  return Object.fromEntries(counts.map(({ kind, open }) => [kind, open]));
}
