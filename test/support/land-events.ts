import { randomUUID } from 'node:crypto';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import type { PassInHand } from '../../warehouse/passes/pass.ts';
import type { PageFacts } from '../../warehouse/passes/record-page.ts';
import { takePass } from '../../warehouse/passes/take-pass.ts';
import { eventsListed, landEvents as landInWarehouse } from '../../warehouse/tombstones/land-events.ts';
import { prepareEvents } from '../../warehouse/tombstones/prepared-events.ts';
import { object, text, type Fields } from './finance-records.ts';
import { begin, readTokenMark } from './land.ts';
import { sourceRecords } from './source-records.ts';

/** Lands the events of a connection as a run does, in one page, which is the last. */
export async function landEvents(
  warehouse: Warehouse,
  { connectionId, events }: { connectionId: string; events: readonly string[] },
): Promise<PageFacts> {
  const runId = randomUUID();
  await begin(warehouse, { connectionId, runId });
  const pass: PassInHand = {
    connectionId,
    stream: eventsListed.name,
    kind: 'sync',
    part: '',
    runId,
    lease: randomUUID(),
    token: await readTokenMark(warehouse, connectionId),
  };
  await takePass(warehouse, { pass, resource: eventsListed, lookbackMilliseconds: 600_000 });
  const page = prepareEvents(await sourceRecords('events', events));
  return landInWarehouse(warehouse, {
    pass,
    page,
    cursor: null,
    requests: 1,
    servedAt: new Date(),
    heardAt: null,
    nextCursor: null,
  });
}

/** API document 2.9: the deletion of a bill at `at`, in raw JSON text like the records of finance-records.ts. */
export function buildDeletionEvent(recordId: string, at: string, fields: Fields = {}): string {
  return object({
    id: text(`event-of-${recordId}`),
    data: object({ id: text(recordId), deleted_at: text(at) }),
    resource: '"BILL"',
    type: '"object_deleted"',
    last_synced_at: text(at),
    ...fields,
  });
}
