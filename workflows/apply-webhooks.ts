import {
  continueAsNew,
  defineSignal,
  isCancellation,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { signals } from '../temporal/messages.ts';
import { searchAttributes } from '../temporal/search-attributes.ts';
import { failureOf } from './failure-of.ts';
import { applying } from './proxies.ts';
import { waitInWords } from './read-streams.ts';
import { requireInput } from './require-input.ts';
import { askedMilliseconds } from './asked-milliseconds.ts';

/** One JSON object, so that "Start Workflow Like This One" in the Web UI repeats it. */
export interface ApplyWebhooksInput {
  connection: string;
}

/** Takes no input: the webhooks are in Postgres. */
const webhooksArrivedSignal = defineSignal(signals.webhooksArrived);

/**
 * Applies the waiting webhooks of a connection: fetches the records they name. Each execution is one chunk and one run; the rest, and webhooks
 * that have arrived meanwhile, are left to the next one.
 */
export async function applyWebhooks(input: ApplyWebhooksInput): Promise<{ records: number }> {
  requireInput(input);
  const { connection } = input;
  const arrived = { times: 0 };
  setHandler(
    webhooksArrivedSignal,
    () => {
      arrived.times += 1;
    },
    { description: 'Webhooks were stored. Takes no input.' },
  );
  // The signal that came with the start is about the webhooks that are taken now.
  await Promise.resolve();
  const taken = arrived.times;
  const { state, wait, records } = await apply(connection);
  setCurrentDetails(`**${connection}**: ${records} records fetched that webhooks had named`);
  if (wait !== undefined) {
    const why = waitInWords(wait.reason, connection);
    setCurrentDetails(`**${connection}**: ${why}`);
    await sleep(Math.max(askedMilliseconds(wait) ?? 0, 1_000), { summary: why });
  }
  if (arrived.times > taken || state !== 'done') return continueAsNew<typeof applyWebhooks>({ connection });
  return { records };
}

async function apply(connection: string): ReturnType<typeof applying.applyWebhooks> {
  try {
    return await applying.applyWebhooks({ runId: workflowInfo().runId, connection });
  } catch (error) {
    // Its starter sets search attributes if Temporal knows them; otherwise they must not be set.
    const searchable = workflowInfo().typedSearchAttributes.get(searchAttributes.connection) !== undefined;
    if (searchable && !isCancellation(error)) {
      upsertSearchAttributes([{ key: searchAttributes.failure, value: failureOf(error).type }]);
    }
    throw error;
  }
}
