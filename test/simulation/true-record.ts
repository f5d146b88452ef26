import type { ResourceName } from '../../sandbox/world/resources.ts';

/** What is true of a record at the source, whoever knows it. Times are the service's, Unix milliseconds. */
export interface TrueRecord {
  readonly resource: ResourceName;
  readonly id: string;
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
  /**
   * Something about it that no sync can find out, only a reconcile: it is gone without an event, it was written into the past, it
   * changed without a new version, or it changed behind the place where a list was being read.
   */
  hidden: boolean;
}

export function trueRecord(
  facts: Pick<TrueRecord, 'resource' | 'id' | 'version'> & Partial<TrueRecord>,
): TrueRecord {
  return {
    ...{ live: true, isRefund: false, announcedAt: null, deletedAt: null },
    ...{ everDeleted: false, spoiled: false, hidden: false },
    ...facts,
  };
}

export function nameOf({ resource, id }: Pick<TrueRecord, 'resource' | 'id'>): string {
  return `${resource}/${id}`;
}

/** The list that shows it. */
export function streamOf({ resource, isRefund }: TrueRecord): string {
  return resource === 'expenses' && isRefund ? 'refunds' : resource;
}
