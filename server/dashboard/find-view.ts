import type { ChosenView } from './chart.ts';
import type { Chosen } from './choices.ts';
import type { ChartRead } from './read-dashboard.ts';

/** The view of a choice; a view that is not about money is of every currency. */
export function findView({ views }: ChartRead, { connection, currency }: Chosen): ChosenView | undefined {
  return views.find(
    (view) => view.connection === connection && (view.currency === undefined || view.currency === currency),
  );
}
