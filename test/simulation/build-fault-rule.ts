import type { FaultRuleInput } from '../../sandbox/faults/fault-rule.ts';
import type { Company } from './company.ts';
import type { FaultKind, PlannedFault } from './history.ts';
import type { Environment } from './environment.ts';

/** The fault rule for the first company's requests. */
export async function buildFaultRule(
  { kind, after, times, path }: PlannedFault,
  { first, environment }: { first: Company; environment: Environment },
): Promise<FaultRuleInput> {
  const { dateless = false } = first.history;
  // Without a `Date` header, a retry date from a service with a wrong clock may mean any wait up to the longest.
  if (kind === '429 until a date' && dateless)
    environment.longestRetryAfter = longestRetryAfterSeconds * 1000;
  else if (kind.startsWith('429 ') && kind !== '429 at once')
    environment.longestRetryAfter = retryAfterSeconds * 1000;
  const until = new Date(first.source.now() + retryAfterSeconds * 1000).toUTCString();
  // Nobody could detect a single foreign answer between two of the right company.
  if (kind === 'another company')
    return {
      match: { connection: first.connection },
      after,
      fault: { kind: 'another-connection', connection: await first.openOtherCompany() },
    };
  const fault: FaultRuleInput['fault'] =
    kind === '429 until a date' ? { kind: 'status', status: 429, retryAfter: until } : faults[kind];
  // A connection with another company's token sends its requests under that company's name.
  const match = first.token === 'own' ? { connection: first.connection, path } : { path };
  return { match, after, times, fault };
}

const retryAfterSeconds = 400;
const longestRetryAfterSeconds = 15 * 60;

const faults: Record<Exclude<FaultKind, '429 until a date' | 'another company'>, FaultRuleInput['fault']> = {
  '500': { kind: 'status', status: 500 },
  '503': { kind: 'status', status: 503 },
  '550': { kind: 'status', status: 550 },
  '429': { kind: 'status', status: 429 },
  '429 at once': { kind: 'status', status: 429, retryAfter: '1' },
  '429 for minutes': { kind: 'status', status: 429, retryAfter: String(retryAfterSeconds) },
  '404': { kind: 'status', status: 404 },
  '401': { kind: 'status', status: 401 },
  html: { kind: 'html' },
  empty: { kind: 'empty' },
  truncated: { kind: 'truncated' },
  cut: { kind: 'cut' },
  reset: { kind: 'reset' },
  'not ready': { kind: 'not-ready' },
  'repeated cursor': { kind: 'repeat-cursor' },
  'short page': { kind: 'short-page', records: 1 },
  'empty page': { kind: 'short-page', records: 0 },
};
