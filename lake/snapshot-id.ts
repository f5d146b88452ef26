import { createHash } from 'node:crypto';

/** `YYYYMMDDTHHMMSSZ-<6 hex>`, from the run alone: a run that is tried again writes the same snapshot. */
export function snapshotId({ runId, startedAt }: { runId: string; startedAt: Date }): string {
  const time = startedAt.toISOString().replace(/[-:]|\.\d+/g, '');
  return `${time}-${createHash('sha256').update(runId).digest('hex').slice(0, 6)}`;
}

export const snapshotIdPattern = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/;
