import type { SyncHandle } from './sync.ts';

type Events = NonNullable<Awaited<ReturnType<SyncHandle['fetchHistory']>>['events']>;

/** The events of a workflow's current or given execution. */
export async function fetchEvents(handle: SyncHandle): Promise<Events> {
  return (await handle.fetchHistory()).events ?? [];
}

/** The summaries that the Web UI shows at the timers of a workflow. */
export async function timerSummaries(handle: SyncHandle): Promise<string[]> {
  const events = await fetchEvents(handle);
  return events
    .filter((event) => event.timerStartedEventAttributes)
    .map(({ userMetadata }) => decodePayload(userMetadata?.summary?.data));
}

export function decodePayload(data: Uint8Array | null | undefined): string {
  return data === null || data === undefined ? '' : String(JSON.parse(Buffer.from(data).toString('utf8')));
}

/** Counts retries and failures of activities; a wait must cause none. */
export async function countRetries(handle: SyncHandle): Promise<number> {
  const events = await fetchEvents(handle);
  return events.filter(
    (event) =>
      (event.activityTaskStartedEventAttributes?.attempt ?? 1) > 1 || event.activityTaskFailedEventAttributes,
  ).length;
}

/** Search attributes by name, as the visibility store has them now. */
export async function readSearchAttributes(handle: SyncHandle): Promise<Record<string, unknown>> {
  const { typedSearchAttributes } = await handle.describe();
  return Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
}
