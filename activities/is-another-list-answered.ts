import { streamNamed } from '../resources/index.ts';
import type { ApiClient } from '../source/api-client.ts';
import { isRequestFailure } from '../source/errors.ts';
import { listOfOne } from '../source/lists.ts';
import { listsThatAnswer } from '../warehouse/passes/lists-that-answer.ts';
import type { PassInHand } from '../warehouse/passes/pass.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';

/** Others may want to be left alone too, but hardly all. */
const othersAsked = 3;

/**
 * Whether the service answers another list of the connection, asked for a single record. Asked before a stream that was told to wait asks
 * again: what that is told right after such an answer is about itself alone, also when it is a 429, after which nobody may ask. Of a
 * company whose data was never ready no list has answered before, so nothing more is asked. Throws no failure of a request.
 */
export async function isAnotherListAnswered(
  warehouse: Warehouse,
  { connectionId, stream }: Pick<PassInHand, 'connectionId' | 'stream'>,
  { api, accessToken, signal }: { api: ApiClient; accessToken: string; signal: AbortSignal },
): Promise<boolean> {
  const others = await listsThatAnswer(warehouse, { connectionId, except: stream });
  for (const other of others.slice(0, othersAsked)) {
    try {
      await api.list({ accessToken, ...listOfOne(streamNamed(other).resource), signal });
      return true;
    } catch (error) {
      if (signal.aborted || !isRequestFailure(error)) throw error;
    }
  }
  return false;
}
