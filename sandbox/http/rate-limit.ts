import { ApiError } from '../api/api-error.ts';
import type { Settings } from '../api/settings.ts';

/**
 * Limits the requests of the organization within any 10 s of real time. Refused requests do not count.
 * The returned function throws ApiError 429.
 */
export function createRateLimit(settings: () => Settings): () => void {
  const accepted: number[] = [];
  return () => {
    const now = performance.now();
    while (accepted[0] !== undefined && accepted[0] <= now - windowMs) accepted.shift();
    const { requestsPer10s, retryAfter } = settings();
    if (accepted.length >= requestsPer10s) {
      const headers: Record<string, string> = retryAfter === null ? {} : { 'retry-after': retryAfter };
      throw new ApiError(429, 'RATE_LIMIT_EXCEEDED', 'Too many requests within 10 seconds.', headers);
    }
    accepted.push(now);
  };
}

const windowMs = 10_000;
