import { createHash } from 'node:crypto';

/** `YYYYMMDDTHHMMSSZ-<6 hex>`, from the run alone: a retried run writes the same snapshot. */
export function snapshotId({ runId, startedAt }: { runId: string; startedAt: Date }): string {
  const time = startedAt.toISOString().replace(/[-:]|\.\d+/g, '');
  return `${time}-${createHash('sha256').update(runId).digest('hex').slice(0, 6)}`;
}

/** The time at which its run began, in Unix milliseconds, from the start of the ID. */
export function timeOfSnapshot(id: string): number {
  return Date.parse(id.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)-.*$/, '$1-$2-$3:$4:$5'));
}

/**
 * Whether a time lies further ahead than clocks of hosts may differ. A snapshot with such a time is not ours, and must not stay the latest
 * forever, or displace others.
 */
export function isFarAhead(milliseconds: number, now = Date.now()): boolean {
  return !(milliseconds <= now + 24 * 3_600_000);
}

export const snapshotIdPattern = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/;
