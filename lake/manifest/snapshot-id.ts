import { createHash } from 'node:crypto';

/** `YYYYMMDDTHHMMSSZ-<6 hex>`, from the run alone: a run that is tried again writes the same snapshot. */
export function snapshotId({ runId, startedAt }: { runId: string; startedAt: Date }): string {
  const time = startedAt.toISOString().replace(/[-:]|\.\d+/g, '');
  return `${time}-${createHash('sha256').update(runId).digest('hex').slice(0, 6)}`;
}

/** When its run began, in milliseconds: IDs begin with that. */
export function timeOfSnapshot(id: string): number {
  return Date.parse(id.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)-.*$/, '$1-$2-$3:$4:$5'));
}

/**
 * Whether a time lies further ahead than the clocks of hosts may be. A snapshot that says so was not made by us, and must not be the latest
 * for ever, or take the place of others.
 */
export function isFarAhead(milliseconds: number, now = Date.now()): boolean {
  return !(milliseconds <= now + 24 * 3_600_000);
}

export const snapshotIdPattern = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/;
