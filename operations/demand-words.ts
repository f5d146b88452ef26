import { formatDuration } from '../config/duration.ts';
import type { ApiDemand } from '../warehouse/connections/read-demand.ts';

/** Returns a sentence on the share of the API budget that scheduled syncs request. */
export function demandInWords({
  requests_per_minute: asked,
  allowed_per_minute: allowed,
}: ApiDemand): string {
  return `scheduled syncs ask for ${counted(asked)} of the ${counted(allowed)} requests a minute that the API budget allows`;
}

/** Returns a warning and a remedy if they request more than their share; undefined otherwise. */
export function budgetWarning(demand: ApiDemand): string | undefined {
  const { requests_per_minute: asked, allowed_per_minute: allowed, needed_stretch: needed, stretch } = demand;
  if (needed <= 1 && stretch <= 1) return undefined;
  const so =
    stretch > 1
      ? `each runs at ${counted(stretch)} times its interval`
      : 'each will run less often than configured, within the hour';
  return (
    `scheduled syncs ask for ${counted(asked)} requests a minute, and the API budget allows ${counted(allowed)}, of which four fifths are for them: ${so}. ` +
    'Set longer intervals ("daybook connection set NAME --every 1h"), or raise DAYBOOK_API_REQUESTS_PER_10S if the finance API grants more.'
  );
}

/** Returns a warning while the service has asked for no requests; undefined otherwise. */
export function silenceInWords(until: Date | null): string | undefined {
  if (until === null) return undefined;
  return (
    `the finance API has answered 429 and asked for no requests until ${until.toISOString()}: until then nothing is read for any connection. ` +
    'Syncs resume by themselves.'
  );
}

/** Says how often a connection is synced. */
export function everyInWords({
  every_seconds: seconds,
  stretch,
}: {
  every_seconds: number;
  stretch: number;
}): string {
  const set = `every ${formatDuration(seconds * 1_000)}`;
  return stretch === 1 ? set : `${set}, stretched ${counted(stretch)} times for the API budget`;
}

function counted(count: number): string {
  return count.toLocaleString('en-US');
}
