import type { NamespaceClaim } from '../../warehouse/ownership/namespace-claims.ts';
import type { ServerFacts } from '../../warehouse/ownership/server-facts.ts';
import type { OwnerRecord } from './owner-record.ts';

/**
 * `unsure`: a database with the right token behind another server process. It is the same server after a restart or a failover, or a copy of
 * its files. Callers that must know ask the owner (`askOwner`).
 */
export type Ownership =
  { readonly is: 'ours' | 'unsure'; readonly claim: NamespaceClaim } | { readonly is: NotOurs };

/**
 * Why a namespace is not ours: it belongs to another warehouse; to this one under another API address; to the database of which this one is a
 * copy; or to a later state of this database.
 */
export type NotOurs = 'other' | 'environment' | 'copy' | 'older';

/** The identity of this process, to be compared with the namespace's owner record. */
export interface Here {
  readonly warehouse: string;
  /** Undefined: the process has none configured. */
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

/** A physical standby has the same system and database. */
function isCopy(theirs: ServerFacts, ours: ServerFacts): boolean {
  const systemsDiffer = theirs.system !== null && ours.system !== null && theirs.system !== ours.system;
  return systemsDiffer || theirs.database !== ours.database;
}

/** A namespace that is behind has lost its last moments (a power failure, a backup of Temporal): the database is right. */
function isAhead(record: OwnerRecord, { token, next_token: next, generation }: NamespaceClaim): boolean {
  return record.token !== token && record.token !== next && record.generation >= generation;
}
