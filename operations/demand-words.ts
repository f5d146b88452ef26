import type { ApiDemand } from '../warehouse/connections/read-demand.ts';

/** What scheduled syncs take of the API budget, in a sentence. */
export function demandInWords({ requests_per_minute: asked, allowed_per_minute: allowed }: ApiDemand): string {
  return `scheduled syncs ask for ${counted(asked)} of the ${counted(allowed)} requests a minute that the API budget allows`;
}

/** What to know and do where they ask for more than there is, or leave little for anything else; undefined: nothing. */
export function demandTrouble(demand: ApiDemand): string | undefined {
  const { requests_per_minute: asked, allowed_per_minute: allowed, times_longer: longer } = demand;
  if (asked <= allowed * comfortable) return undefined;
  const so =
    longer === null
      ? 'which leaves little for reconciles, first loads and what people start'
      : `so a sync comes ${longer.toLocaleString('en-US')} times as rarely as it is set to, on average`;
  return `${demandInWords(demand)}, ${so}. Set longer intervals ("daybook connection set NAME --every 1h"), or raise DAYBOOK_API_REQUESTS_PER_10S if the finance API grants more.`;
}

/** Of the budget, for syncs that find nothing. */
const comfortable = 0.8;

function counted(count: number): string {
  return count.toLocaleString('en-US');
}
