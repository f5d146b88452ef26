import type { ResourceName } from '../../sandbox/api/resources.ts';

/** The truth about a record at the source, whether or not anyone knows it. Times are the service's, Unix milliseconds. */
export interface TrueRecord {
  readonly resource: ResourceName;
  /** The id as the warehouse holds it. */
  readonly id: string;
  /** The id as the source has it. */
  readonly sourceId: string;
  version: number;
  live: boolean;
  isRefund: boolean;
  /** The time at which an event announced its deletion; null if none did, or if it lives. */
  announcedAt: number | null;
  /** The time of its last deletion, whether or not anyone knows of it. */
  deletedAt: number | null;
  everDeleted: boolean;
  /** Whether its present form cannot be stored. */
  spoiled: boolean;
  /** Whether it cannot be stored because of its id: it has none, or one that is no text for Postgres. */
  nameless: boolean;
  /**
   * Whether only a reconcile, and no sync, can find something out about it: it is gone without an event, was written into the past, or
   * changed without a new version or under an older one.
   */
  hidden: boolean;
  /**
   * Whether it changed while the service's clock repeated times that it had told before, unnoticed. A sync that has read up to there may
   * not look again.
   */
  behindWatermark: boolean;
  /** Whether it was written in a time that the service's clock tells twice. */
  inRepeatedTime: boolean;
  /** The highest version that the source has ever shown of it, its deletions included. */
  highest: number;
  /** The number of times that its versions went back. */
  era: number;
  /** The last era in which the source showed each version. */
  readonly eras: Map<number, number>;
  /** The versions under which the source has shown its present content. */
  sameContent: ReadonlySet<number>;
  /** The era of its last deletion. */
  deletionEra: number;
  /** The number of changes at its last creation or recreation; see `Source.changes`. */
  createdAtChange: number;
  /** The time of its last creation or recreation. */
  createdAt: number;
  /** The most by which it has claimed to be older than it is, milliseconds. */
  backdatedBy: number;
  /** The right time of its last change, independent of wrong clocks. */
  changedAt: number;
  /** Whether a person has discarded its present form from quarantine. `unsure`: the connection was added again since. */
  discarded: 'yes' | 'unsure' | 'no';
}

export function trueRecord(
  facts: Pick<TrueRecord, 'resource' | 'id' | 'version'> & Partial<TrueRecord>,
): TrueRecord {
  return {
    sourceId: facts.id,
    live: true,
    isRefund: false,
    announcedAt: null,
    deletedAt: null,
    everDeleted: false,
    spoiled: false,
    nameless: false,
    hidden: false,
    behindWatermark: false,
    inRepeatedTime: false,
    highest: facts.version,
    era: 0,
    eras: new Map([[facts.version, 0]]),
    sameContent: new Set([facts.version]),
    deletionEra: 0,
    createdAtChange: 0,
    createdAt: 0,
    backdatedBy: 0,
    changedAt: 0,
    discarded: 'no',
    ...facts,
  };
}

export function nameOf({ resource, id }: Pick<TrueRecord, 'resource' | 'id'>): string {
  return `${resource}/${id}`;
}

/** An id as the warehouse holds it: Postgres has no NUL. */
export function heldId(id: string): string {
  return id.replaceAll('\0', '\uFFFD');
}

/** The name of the record on a line of the source. Undefined if it has no id. */
export function parseRecordName(resource: ResourceName, line: string): string | undefined {
  const { id } = JSON.parse(line) as { id?: unknown };
  return typeof id === 'string' ? nameOf({ resource, id: heldId(id) }) : undefined;
}

/** The list that shows the record. */
export function streamOf({ resource, isRefund }: TrueRecord): string {
  return resource === 'expenses' && isRefund ? 'refunds' : resource;
}

/** The last era in which the source showed this version; -1: never. */
export function findEra({ eras }: TrueRecord, version: number): number {
  return eras.get(Math.round(version)) ?? -1;
}

/** How long a list may show an older version of equal content. A list shows older changes as they are. */
export const equalContentLagMilliseconds = 3_600_000;
