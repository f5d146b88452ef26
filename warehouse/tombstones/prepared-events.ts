import * as z from 'zod';
import { resources } from '../../resources/index.ts';
import { microsecondsOf } from '../../resources/instant.ts';
import { isTooLong, longestId } from '../../resources/longest-id.ts';
import type { Resource } from '../../resources/resource.ts';
import type { SourceRecord } from '../../resources/source-record.ts';
import { isWellFormed } from '../../resources/well-formed.ts';
import type { RefusedRecord } from '../landing/prepared-page.ts';
import type { Deletion } from './apply-tombstones.ts';

/** A page of the events list (API document 4.6), ready to be landed. */
export interface PreparedEvents {
  readonly deletions: ReadonlyMap<Resource, readonly Deletion[]>;
  /** Events of our resources that do not say which record is gone. */
  readonly refused: ReadonlyMap<Resource, readonly RefusedRecord[]>;
  /** Number of all events in the page, including those of resources that Daybook does not copy. */
  readonly read: number;
  readonly highest: { readonly id: string; readonly version: string } | null;
}

/** Prepares a page of events. Events of unknown resources are skipped: any may appear. */
export function prepareEvents(page: readonly SourceRecord[]): PreparedEvents {
  const deletions = new Map<Resource, Deletion[]>();
  const refused = new Map<Resource, RefusedRecord[]>();
  let highest: PreparedEvents['highest'] = null;
  for (const { text, value } of page) {
    const { resource, type, last_synced_at: at, data } = parseEvent(value);
    if (isTime(at) && (highest === null || isAfter(at, highest.version))) highest = { id: '', version: at };
    const known = resources.find(({ eventName }) => eventName !== null && eventName === resource);
    if (known === undefined || (type !== undefined && type !== 'object_deleted')) continue;
    const id = data?.id;
    if (!isTime(at)) {
      add(refused, known, { recordId: null, reason: 'a deletion that does not say when', text });
    } else if (id === undefined || id === '' || !isWellFormed(id)) {
      add(refused, known, { recordId: null, reason: 'a deletion that does not say of which record', text });
    } else if (isTooLong(id)) {
      const reason = `a deletion of a record whose id is longer than ${longestId} bytes`;
      add(refused, known, { recordId: null, reason, text });
    } else {
      const deletedAt = isTime(data?.deleted_at) ? data.deleted_at : null;
      add(deletions, known, { id, version: at, deletedAt });
    }
  }
  return { deletions, refused, read: page.length, highest };
}

/** Unexpected values count as not sent. */
const eventSchema = z.object({
  resource: z.string().optional().catch(undefined),
  type: z.string().optional().catch(undefined),
  last_synced_at: z.string().optional().catch(undefined),
  data: z
    .object({
      id: z.string().optional().catch(undefined),
      deleted_at: z.string().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

function parseEvent(value: unknown): z.infer<typeof eventSchema> {
  return eventSchema.safeParse(value).data ?? {};
}

function isTime(text: string | undefined): text is string {
  return text !== undefined && microsecondsOf(text) !== undefined;
}

function isAfter(a: string, b: string): boolean {
  return (microsecondsOf(a) ?? 0) > (microsecondsOf(b) ?? 0);
}

function add<Value>(lists: Map<Resource, Value[]>, resource: Resource, value: Value): void {
  lists.set(resource, [...(lists.get(resource) ?? []), value]);
}
