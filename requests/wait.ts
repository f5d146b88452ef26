import { ProductNotReady, RateLimited } from '../source/errors.ts';

/** Why the service must be left alone, and for how long, if it said so. */
export interface Wait {
  reason: 'not ready' | 'rate limited';
  /** A duration: clocks differ between workers, Postgres and Temporal. Absent in what workers of 0.5.0 return. */
  milliseconds?: number | null;
  /** The same by the worker's clock, in milliseconds since 1970: for workflows of 0.5.0. */
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
