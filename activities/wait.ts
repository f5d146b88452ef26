import { ProductNotReady, RateLimited } from '../source/errors.ts';

/** Why the service must be left alone, and until when, if it said so. Milliseconds since 1970. */
export interface Wait {
  reason: 'not ready' | 'rate limited';
  notBefore: number | null;
}

export function waitOf(error: unknown): Wait | undefined {
  if (error instanceof ProductNotReady) return { reason: 'not ready', notBefore: null };
  if (error instanceof RateLimited) return { reason: 'rate limited', notBefore: error.notBefore.getTime() };
  return undefined;
}
