import type { DefaultTime } from './database.ts';

export interface NamespaceClaimsTable {
  claim_id: string;
  token: string;
  next_token: string | null;
  generation: number;
  claimed_at: DefaultTime;
}
