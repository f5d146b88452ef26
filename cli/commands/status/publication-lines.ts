import type { MartsStatus, TargetStatus } from '../../../warehouse/marts/read-marts-status.ts';
import type { SnapshotStatus } from '../../../warehouse/snapshots/read-snapshot-status.ts';
import { formatAge } from '../../format-age.ts';

/** Returns what is published, and what prevents anything newer. */
export function publicationLines({
  snapshot,
  marts,
}: {
  snapshot: SnapshotStatus;
  marts: MartsStatus;
}): string[] {
  return [`Snapshot: ${shownSnapshot(snapshot)}${describeState(snapshot, 'export')}`, ...martsLines(marts)];
}

export function martsLines(marts: MartsStatus): string[] {
  return [
    `Marts in Postgres: ${shownMarts(marts.postgres)}${describeState(marts.postgres, 'build')}`,
    `Marts on the lake: ${shownMarts(marts.lake)}${describeState(marts.lake, 'build')}`,
    // Spark builds are only ever started by a person.
    ...(marts.spark.status === null
      ? []
      : [`Marts on Spark: ${shownMarts(marts.spark)}${describeState(marts.spark, 'build')}`]),
  ];
}

function shownSnapshot({ snapshot_id: id, age_seconds: age }: SnapshotStatus): string {
  if (id === null) return 'none yet';
  const isAhead = age !== null && age < 0;
  return isAhead
    ? `${id}, whose time is ${formatAge(-age)} ahead of the clock of Postgres`
    : `${id}, taken ${formatAge(age)} ago`;
}

function shownMarts({ marts, as_of_date: day, age_seconds: age }: TargetStatus): string {
  return day === null ? 'none yet' : `${marts} as of ${day}, built ${formatAge(age)} ago`;
}

function describeState({ status, failure, outcome }: SnapshotStatus | TargetStatus, what: string): string {
  if (status === 'running') return `; the next ${what} is running`;
  if (status === 'failed') return `; the last ${what} failed: ${failure ?? ''} Readers see what is there.`;
  if (status === 'unsupported') return `; ${outcome ?? ''}`;
  if (status === 'cancelled' || status === 'interrupted') return `; the last ${what} was ${status}`;
  return '';
}
