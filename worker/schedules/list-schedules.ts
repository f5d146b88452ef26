import type { Client } from '@temporalio/client';
import { asListed, type ListedSchedule } from '../../operations/schedules/settle-schedule.ts';

/** The schedules that Temporal lists, by page and at one go for all connections. */
export interface ListedSchedules {
  /** Of all schedules, whoever made them. */
  readonly ids: ReadonlySet<string>;
  /** Of this warehouse; what others have in the namespace is theirs. */
  readonly ours: ReadonlyMap<string, ListedSchedule>;
  /** The connections that ours are of. */
  readonly connections: ReadonlySet<string>;
}

/** `goOn` is asked now and then; undefined when it says no. Throws what the client throws. */
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
    // A deadline for each page: thousands of schedules are many.
    const next = await temporal.withDeadline(Date.now() + 10_000, () => list.next());
    if (next.done === true) return { ids, ours, connections };
    const { scheduleId, memo } = next.value;
    ids.add(scheduleId);
    if (memo?.daybook !== owner || typeof memo.connection !== 'string') continue;
    ours.set(scheduleId, asListed(next.value));
    connections.add(memo.connection);
  }
}

const pageSize = 1_000;
