import type { ChosenView } from './chart.ts';
import type { Chosen } from './choices.ts';
import type { ChartRead } from './read-dashboard.ts';

/** Returns the view of a choice. A view that is not about money holds for every currency. */
export function findView({ views }: ChartRead, { connection, currency }: Chosen): ChosenView | undefined {
  return views.find(
    (view) => view.connection === connection && (view.currency === undefined || view.currency === currency),
  );
}
