import type { WantedSchedule } from './wanted-schedules.ts';

/** Whether a schedule is paused, and the note shown to people. */
export interface ScheduleRunState {
  paused: boolean;
  note: string;
  /** Set by people only. */
  remainingActions?: number;
}

/** Prefixes of our notes, which distinguish our pauses from those made in the Web UI. */
const pausedByUs = 'Paused by Daybook: ';
const slowedByUs = 'Slowed down: ';

/** Whether a note marks a pause that the database wants. */
export function isOurPause(note = ''): boolean {
  return note.startsWith(pausedByUs);
}

/** Only our own pauses are changed or lifted. A pause made in the Web UI stays, unless somebody resumes the connection. */
export function stateAfter(
  now: { paused: boolean; note?: string; remainingActions?: number },
  { pausedWhy, slowedWhy }: Pick<WantedSchedule, 'pausedWhy' | 'slowedWhy'>,
  resume: boolean,
): ScheduleRunState {
  const note = now.note ?? '';
  const isOurs = isOurPause(note) || note.startsWith(slowedByUs);
  if (now.paused && !isOurs && !resume) return { ...now, paused: true, note };
  if (pausedWhy !== null) return { ...now, paused: true, note: `${pausedByUs}${pausedWhy}` };
  const left = isOurs || now.paused ? '' : note;
  return { ...now, paused: false, note: slowedWhy === '' ? left : `${slowedByUs}${slowedWhy}` };
}
