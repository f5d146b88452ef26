import type { ScheduleKind } from '../temporal/schedule-ids.ts';

/** What activities need of the schedules in Temporal; `operations/schedules` and `worker/schedules` do it. */
export interface Schedules {
  /** Brings the schedules of a connection to what the database says. */
  follow(connection: string): Promise<void>;
  /** Decides whether a schedule that fired may start its run. */
  admit(tick: DueTick): Promise<TickAdmitted>;
  /** The same for the schedule of exports. */
  admitExport(): Promise<TickAdmitted>;
}

export interface Tick {
  kind: ScheduleKind;
  connection: string;
}

export interface DueTick extends Tick {
  /** Of one that was admitted, and has waited for another run since: when it fired, Unix milliseconds. */
  waitsSince?: number;
}

export type TickAdmitted = { admitted: true } | { admitted: false; why: string };
