import type { ResourceName } from '../../sandbox/api/resources.ts';

/** What is true of a record at the source, whoever knows it. Times are the service's, Unix milliseconds. */
export interface TrueRecord {
  readonly resource: ResourceName;
  /** As the warehouse holds it. */
  readonly id: string;
  /** As the source has it. */
  readonly sourceId: string;
  version: number;
  live: boolean;
  isRefund: boolean;
  /** When its deletion was announced by an event; null when it was not, or lives. */
  announcedAt: number | null;
  /** The last time, whoever knows of it. */
  deletedAt: number | null;
  everDeleted: boolean;
  /** Nobody can store it as it is. */
  spoiled: boolean;
  /** Nobody can store it, for its id: it has none, or one that is no text for Postgres. */
  nameless: boolean;
  /**
   * Something about it that no sync can find out, only a reconcile: it is gone without an event, it was written into the past, it
   * changed without a new version, or under an older one than before.
   */
  hidden: boolean;
  /**
   * It changed while the service's clock told a time that it had told before, and nobody can know: who has read up to there may not
   * look again.
   */
  behind: boolean;
  /** Written in a time that the service's clock tells twice. */
  writtenTwice: boolean;
  /** The highest version that the source has ever shown of it, its deletions included. */
  highest: number;
  /** Counts how often its versions went back. */
  era: number;
  /** Of every version that the source has shown, the last era in which it did. */
  readonly eras: Map<number, number>;
  /** The versions under which the source has shown the content that it has now. */
  sameContent: ReadonlySet<number>;
  /** The era in which it was deleted last. */
  deathEra: number;
  /** When it was created or recreated last; see `Source.changes`. */
  bornAt: number;
  /** The same as a time. */
  bornTime: number;
  /** By how much it has said that it is older than it is, at most, milliseconds. */
  backdatedBy: number;
  /** The right time of its last change, by nobody's clock. */
  changedAt: number;
  /** A person has discarded it from quarantine as it is; `unsure`: the connection was added again since. */
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
    behind: false,
    writtenTwice: false,
    highest: facts.version,
    era: 0,
    eras: new Map([[facts.version, 0]]),
    sameContent: new Set([facts.version]),
    deathEra: 0,
    bornAt: 0,
    bornTime: 0,
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

/** The name of the record on a line of the source; undefined when it has no id. */
export function nameOnLine(resource: ResourceName, line: string): string | undefined {
  const { id } = JSON.parse(line) as { id?: unknown };
  return typeof id === 'string' ? nameOf({ resource, id: heldId(id) }) : undefined;
}

/** The list that shows it. */
export function streamOf({ resource, isRefund }: TrueRecord): string {
  return resource === 'expenses' && isRefund ? 'refunds' : resource;
}

/** The last era in which the source showed this version; -1: never. */
export function eraOf({ eras }: TrueRecord, version: number): number {
  return eras.get(Math.round(version)) ?? -1;
}

/** Of equal content, a list may show an older version for as long; what is further back, it shows as it is. */
export const surelyShownMilliseconds = 3_600_000;
