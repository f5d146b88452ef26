import type { NamespaceClaim } from '../../warehouse/ownership/namespace-claims.ts';
import type { ServerFacts } from '../../warehouse/ownership/server-facts.ts';
import type { OwnerRecord } from './owner-record.ts';

/**
 * `unsure` is a database with the right token behind another server process: the same server after a restart or a failover, or a
 * copy of its files. Who must know asks the owner (`askOwner`).
 */
export type Ownership =
  { readonly is: 'ours' | 'unsure'; readonly claim: NamespaceClaim } | { readonly is: NotOurs };

/**
 * Why a namespace is not ours: it is of another warehouse; of this one under another API address; of the database that this one is
 * a copy of; of a later state of this database.
 */
export type NotOurs = 'other' | 'environment' | 'copy' | 'older';

/** What this process is, to be compared with what the namespace carries. */
export interface Here {
  readonly warehouse: string;
  /** Undefined: the process knows of none. */
  readonly api: string | undefined;
  readonly server: ServerFacts;
  /** Undefined: this warehouse has never made the claim that the namespace carries. */
  readonly claim: NamespaceClaim | undefined;
}

export function judgeOwnership(record: OwnerRecord, here: Here): Ownership {
  const { claim, server, api } = here;
  if (claim === undefined) return { is: record.warehouse === here.warehouse ? 'older' : 'other' };
  if (isCopy(record.server, server)) return { is: 'copy' };
  if (isAhead(record, claim)) return { is: 'older' };
  if (api !== undefined && api !== record.api) return { is: 'environment' };
  return { is: record.server.started === server.started ? 'ours' : 'unsure', claim };
}

/** A physical standby has the same of both. */
function isCopy(theirs: ServerFacts, ours: ServerFacts): boolean {
  const systemsDiffer = theirs.system !== null && ours.system !== null && theirs.system !== ours.system;
  return systemsDiffer || theirs.database !== ours.database;
}

/** A namespace that is behind has lost its last moments (a power cut, a backup of Temporal): the database knows better. */
function isAhead(record: OwnerRecord, { token, next_token: next, generation }: NamespaceClaim): boolean {
  return record.token !== token && record.token !== next && record.generation >= generation;
}
