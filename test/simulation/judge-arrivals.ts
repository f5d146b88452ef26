import type { LoggedRequest } from '../../sandbox/http/request-log.ts';
import { judgeRequests } from '../day/judge-requests.ts';
import { requestsPer10s } from './harness.ts';
import type { Environment } from './environment.ts';

/**
 * Judges that in no 10 seconds more requests arrive than the budget allows, and none before a `Retry-After` has passed. Nobody could
 * keep count across a setting of Postgres's clock, so each interval between settings is judged alone. Requests in the very millisecond of a
 * setting are left out, because their order is unknown.
 */
export function judgeArrivals(
  requests: readonly LoggedRequest[],
  { databaseJumps }: Pick<Environment, 'databaseJumps'>,
): string[] {
  const bounds = [-Infinity, ...databaseJumps, Infinity];
  return bounds.slice(1).flatMap((until, place) => {
    const from = bounds[place] ?? -Infinity;
    const piece = requests
      .filter(({ at }) => at > from && at < until)
      .map((request, index) => ({ ...request, number: index + 1 }));
    if (piece.length === 0) return [];
    return [...judgeRequests(piece, { requestsPer10s }), ...judgeRetryAfter(piece)];
  });
}

function judgeRetryAfter(requests: readonly LoggedRequest[]): string[] {
  return requests.flatMap(({ at, status, fault, retryAfter = '' }, place) => {
    if (fault !== 'status' || status !== 429 || !/^\d+$/.test(retryAfter)) return [];
    const silent = Math.min(Number(retryAfter), longestSeconds) * 1000;
    const early = requests.slice(place + 1).find((later) => later.at < at + silent - 1_000);
    if (early === undefined) return [];
    return [
      `A request came ${Math.round((early.at - at) / 1000)} s after the service had asked for ${retryAfter} s of silence.`,
    ];
  });
}

/** The longest `Retry-After` that the product follows. */
const longestSeconds = 900;
