import type { Client } from '@temporalio/client';
import { asListed, type ListedSchedule } from '../../operations/schedules/settle-schedule.ts';
import { readScheduleMemo } from '../../temporal/schedule-memo.ts';

/** The schedules that Temporal lists, for all connections at once, page by page. */
export interface ListedSchedules {
  /** The IDs of all schedules, whoever created them. */
  readonly ids: ReadonlySet<string>;
  /** The schedules of this warehouse; other schedules in the namespace are not ours to change. */
  readonly ours: ReadonlyMap<string, ListedSchedule>;
  /** The connections of `ours`. */
  readonly connections: ReadonlySet<string>;
}

/** Lists all schedules. `goOn` is called before each page; undefined once it returns false. Throws the client's errors. */
export async function listSchedules(
  temporal: Client,
  { owner, goOn }: { owner: string; goOn: () => Promise<boolean> },
): Promise<ListedSchedules | undefined> {
  const ids = new Set<string>();
  const ours = new Map<string, ListedSchedule>();
  const connections = new Set<string>();
  const list = temporal.schedule.list({ pageSize })[Symbol.asyncIterator]();
  for (;;) {
    if (ids.size % pageSize === 0 && !(await goOn())) return undefined;
    // Each page has its own deadline, because there may be thousands of schedules.
    const next = await temporal.withDeadline(Date.now() + 10_000, () => list.next());
    if (next.done === true) return { ids, ours, connections };
    const { scheduleId } = next.value;
    ids.add(scheduleId);
    const memo = readScheduleMemo(next.value.memo);
    if (memo?.daybook !== owner || memo.connection === undefined) continue;
    ours.set(scheduleId, asListed(next.value));
    connections.add(memo.connection);
  }
}

const pageSize = 1_000;
