import type { FaultRuleInput } from '../../sandbox/faults/fault-rule.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import type { Chance } from './chance.ts';

/**
 * Makes some of the next requests of a connection fail. Drops earlier faults that have not happened yet, because a connection without
 * requests would collect more of them than it can ever work off.
 */
export async function injectFault(
  admin: SandboxAdmin,
  { connections, chance }: { connections: readonly string[]; chance: Chance },
): Promise<void> {
  await admin.clearFaults();
  await admin.addFault({
    match: {
      connection: chance.pick(connections),
      path: chance.pick(['/accounting', '/accounting', '/events', '/']),
    },
    after: chance.below(6),
    fault: chance.pick(faults),
    ...(chance.happens(20) ? { forMs: 500 + chance.below(4_000) } : { times: 1 + chance.below(3) }),
  });
}

/** The last fault is rare: without a `Retry-After`, all requests of the organization wait for 10 s. */
const faults: readonly FaultRuleInput['fault'][] = [
  ...[500, 500, 502, 503, 550].map((status) => ({ kind: 'status' as const, status })),
  ...['1', '1', '2'].map((retryAfter) => ({ kind: 'status' as const, status: 429, retryAfter })),
  ...(['cut', 'cut', 'reset', 'reset', 'truncated', 'truncated'] as const).map((kind) => ({ kind })),
  { kind: 'html' },
  { kind: 'html' },
  { kind: 'slow', ms: 1_500 },
  { kind: 'slow', ms: 3_000 },
  { kind: 'status', status: 429 },
];
