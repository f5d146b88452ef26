import type { Chance } from './chance.ts';

/** An action, besides the ticks, that is due once every connection has ticked `tick` times. */
export type PlannedAction = { readonly tick: number } & (
  | { readonly what: 'kill'; readonly process: number }
  | { readonly what: 'no Temporal' }
  | { readonly what: 'reconcile'; readonly connection: string }
  | ({ readonly what: 'backfill'; readonly connection: string } & BackfillWindow)
);

/** Days; `from` inclusive, `to` exclusive. */
export interface BackfillWindow {
  readonly from: string;
  readonly to: string;
}

/** Spreads kills of processes, outages of Temporal, reconciles and backfills over the day, earliest first. */
export function planActions(input: {
  ticks: number;
  processes: number;
  connections: readonly string[];
  chance: Chance;
}): PlannedAction[] {
  const { ticks, processes, connections, chance } = input;
  const every = (interval: number, createAction: (tick: number) => PlannedAction): PlannedAction[] =>
    Array.from({ length: Math.ceil(ticks / interval) }, (_, index) =>
      // Early in each interval, so that something is left to happen afterwards.
      createAction(index * interval + chance.below(Math.ceil(Math.min(interval, ticks) * 0.3))),
    );
  return [
    ...every(20, (tick) => ({ tick, what: 'kill', process: chance.below(processes) })),
    ...every(100, (tick) => ({ tick, what: 'no Temporal' })),
    ...every(15, (tick) => ({ tick, what: 'reconcile', connection: chance.pick(connections) })),
    ...every(25, (tick) => ({
      tick,
      what: 'backfill',
      connection: chance.pick(connections),
      ...someWindow(chance),
    })),
  ].sort((left, right) => left.tick - right.tick);
}

/** Up to a year within the two years before the first sync. */
function someWindow(chance: Chance): BackfillWindow {
  const start = Date.UTC(2024, 0, 1) + chance.below(365) * dayMilliseconds;
  const end = start + (1 + chance.below(365)) * dayMilliseconds;
  return { from: formatDay(start), to: formatDay(end) };
}

const dayMilliseconds = 86_400_000;

function formatDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
