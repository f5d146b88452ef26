import type { FaultRuleInput } from '../../sandbox/faults/fault-rule.ts';
import type { FaultKind, PlannedFault } from './history.ts';

export function faultOf({ kind, after, times, path }: PlannedFault, connection: string): FaultRuleInput {
  return { match: { connection, path }, after, times, fault: faults[kind] };
}

const faults: Record<FaultKind, FaultRuleInput['fault']> = {
  '500': { kind: 'status', status: 500 },
  '503': { kind: 'status', status: 503 },
  '550': { kind: 'status', status: 550 },
  '429': { kind: 'status', status: 429 },
  '429 at once': { kind: 'status', status: 429, retryAfter: '1' },
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
