import { ProductNotReady, RateLimited } from '../source/errors.ts';

/** Why the service asks for a pause, and for how long, if it said so. */
export interface Wait {
  reason: 'not ready' | 'rate limited';
  /** A duration, because clocks differ between workers, Postgres and Temporal. Absent in results of workers of 0.5.0. */
  milliseconds?: number | null;
  /** The end of the pause by the worker's clock, in Unix milliseconds: for workflows of 0.5.0. */
  notBefore: number | null;
  /** The service answers other lists meanwhile. Absent in histories of releases before 0.6. */
  ofOneAlone?: boolean;
}

export function waitOf(error: unknown): Wait | undefined {
  if (error instanceof ProductNotReady) return { reason: 'not ready', milliseconds: null, notBefore: null };
  if (error instanceof RateLimited) return waitFor('rate limited', error.milliseconds);
  return undefined;
}

export function waitFor(
  reason: Wait['reason'],
  milliseconds: number,
): Wait & { milliseconds: number; notBefore: number } {
  return { reason, milliseconds, notBefore: Date.now() + milliseconds };
}
