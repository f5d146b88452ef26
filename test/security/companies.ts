import type { FaultRuleInput } from '../../sandbox/faults/fault-rule.ts';
import type { Echo } from './echoing-service.ts';
import { secrets } from './planted.ts';

/** Connections by name: two that work, and one for each way in which a run fails. Each token contains the planted one. */
export const companies: readonly Company[] = [
  { name: 'acme' },
  { name: 'awkward', token: secrets.awkwardToken },
  { name: 'invalid', echo: { status: 400 } },
  { name: 'refused', echo: { status: 401, code: 'INVALID_CREDENTIALS' } },
  { name: 'disabled', echo: { status: 403, code: 'CONNECTION_DISABLED' } },
  { name: 'nothing', echo: { status: 404 } },
  { name: 'locked-out', echo: { status: 451 } },
  { name: 'moved', echo: { status: 302 } },
  { name: 'down', echo: { status: 503 } },
  { name: 'no-json', echo: { status: 200, body: 'text' } },
  { name: 'no-list', echo: { status: 200, body: 'list' } },
  { name: 'no-http', echo: { status: 200, body: 'broken' } },
  { name: 'truncated', fault: { kind: 'truncated' } },
  { name: 'reset', fault: { kind: 'reset' } },
  { name: 'turning', fault: { kind: 'repeat-cursor' } },
  // The same company under another name.
  { name: 'twice', token: secrets.token },
];

export function tokenOf({ name, token }: Company): string {
  return token ?? (name === 'acme' ? secrets.token : `${secrets.token}_${name.toUpperCase()}`);
}

export interface Company {
  readonly name: string;
  readonly token?: string;
  readonly echo?: Echo;
  readonly fault?: FaultRuleInput['fault'];
}
