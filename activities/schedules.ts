import type { ScheduleKind } from '../temporal/schedule-ids.ts';

/** The part of Temporal's schedules that activities need; implemented in `operations/schedules` and `worker/schedules`. */
export interface Schedules {
  /** Updates the schedules of a connection to match the database. */
  update(connection: string): Promise<void>;
  /** Decides whether a schedule that fired may start its run. */
  admit(tick: DueTick): Promise<TickAdmitted>;
  /** The same, for the schedule of exports. */
  admitExport(): Promise<TickAdmitted>;
}

export interface Tick {
  kind: ScheduleKind;
  connection: string;
}

export interface DueTick extends Tick {
  /** The time at which a tick fired that was admitted and has waited for another run since, in Unix milliseconds. */
  waitsSince?: number;
}

export type TickAdmitted = { admitted: true } | { admitted: false; why: string };
