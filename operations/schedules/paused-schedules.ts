import type { Client } from '@temporalio/client';
import { scheduleIds } from '../../temporal/schedule-ids.ts';
import { isOurPause } from './schedule-run-state.ts';

/** Connections whose schedule of syncs somebody has paused in Temporal, with the note of the pause. */
export type PausedSchedules = ReadonlyMap<string, string>;

/**
 * Caches `readPausedSchedules` for the process: it asks again after 15 s. Callers then get the cached answer while a new one is fetched, unless
 * it is a minute old. A process has one client, except in tests.
 */
export async function pausedSchedules(temporal: Client): Promise<PausedSchedules> {
  const asked = known.get(temporal);
  const age = asked === undefined ? Infinity : Date.now() - asked.at;
  if (asked?.answer !== undefined && age < freshMilliseconds) return asked.answer;
  const asking = asked?.asking ?? ask(temporal, asked);
  if (asked?.answer === undefined || age > outdatedMilliseconds) return asking;
  asking.catch(() => undefined);
  return asked.answer;
}

function ask(temporal: Client, before: Asked | undefined): Promise<PausedSchedules> {
  const asking = readPausedSchedules(temporal).then(
    (answer) => {
      known.set(temporal, { answer, at: Date.now(), asking: undefined });
      return answer;
    },
    (error: unknown) => {
      known.delete(temporal);
      throw error;
    },
  );
  known.set(temporal, { answer: before?.answer, at: before?.at ?? 0, asking });
  return asking;
}

const freshMilliseconds = 15_000;
const outdatedMilliseconds = 60_000;

interface Asked {
  readonly answer: PausedSchedules | undefined;
  readonly at: number;
  readonly asking: Promise<PausedSchedules> | undefined;
}

const known = new WeakMap<Client, Asked>();

/**
 * Asks Temporal for paused schedules only: a short list, however many connections there are. The list lags by a moment, so our own pauses are left
 * out; the database knows them. Throws the errors of the client if Temporal is away.
 */
export async function readPausedSchedules(temporal: Client): Promise<PausedSchedules> {
  const paused = new Map<string, string>();
  const prefix = scheduleIds.connection('sync', '');
  const list = temporal.schedule.list({ query: 'TemporalSchedulePaused = true', pageSize: 1_000 });
  const listed = list[Symbol.asyncIterator]();
  for (;;) {
    // A deadline for each page: thousands of pauses take several.
    const next = await temporal.withDeadline(Date.now() + 5_000, () => listed.next());
    if (next.done === true) return paused;
    const { scheduleId, state } = next.value;
    if (scheduleId.startsWith(prefix) && !isOurPause(state.note))
      paused.set(scheduleId.slice(prefix.length), state.note ?? '');
  }
}
