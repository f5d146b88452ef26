import type { ChaosProfile } from '../data/chaos-profile.ts';
import { dice } from '../data/dice.ts';
import type { RequestFault } from './fault-rule.ts';

/** Creates the faults of a profile: the n-th request with a given seed always gets the same one. */
export function createRandomFaults(profile: ChaosProfile, seed: number): () => RequestFault | null {
  if (profile !== 'flaky') return () => null;
  const chance = dice(`flaky/${seed}`);
  let request = 0;
  return () => {
    request += 1;
    const number = chance(request);
    return number % 100 < 5 ? (flakyFaults[(number >>> 8) % flakyFaults.length] ?? null) : null;
  };
}

const flakyFaults: readonly RequestFault[] = [
  { kind: 'status', status: 500, code: 'INTERNAL_SERVER_ERROR' },
  { kind: 'status', status: 500, code: 'INTERNAL_SERVER_ERROR' },
  { kind: 'status', status: 429, code: 'RATE_LIMIT_EXCEEDED' },
  { kind: 'status', status: 429, code: 'RATE_LIMIT_EXCEEDED', retryAfter: '1' },
  { kind: 'html', status: 503 },
  { kind: 'truncated' },
  { kind: 'slow', ms: 1_500 },
  { kind: 'reset' },
  { kind: 'cut' },
  { kind: 'hang' },
];
