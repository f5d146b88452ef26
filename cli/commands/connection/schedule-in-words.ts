import { formatDuration } from '../../../config/duration.ts';

/** Says how often a connection is synced and reconciled. */
export function scheduleInWords(every: { syncEvery: number | null; reconcileEvery: number | null }): string {
  return `synced ${howOften(every.syncEvery)}, reconciled ${howOften(every.reconcileEvery)}`;
}

/** `every 15m`; null is `on request`. */
export function howOften(milliseconds: number | null): string {
  return milliseconds === null ? 'on request' : `every ${formatDuration(milliseconds)}`;
}
