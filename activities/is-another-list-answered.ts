import { streamNamed } from '../resources/index.ts';
import type { ApiClient } from '../source/api-client.ts';
import { isRequestFailure } from '../source/errors.ts';
import { listOfOne } from '../source/lists.ts';
import { listsThatAnswer } from '../warehouse/passes/lists-that-answer.ts';
import type { PassInHand } from '../warehouse/passes/pass.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';

/** Other lists may be told to wait too, but hardly all. */
const othersAsked = 3;

/**
 * Whether the service answers another list of the connection, for a single record. Asked before a stream that was told to wait asks again: a
 * wait that follows such an answer concerns that stream alone, even a 429, after which no request is allowed. If a company's data was never
 * ready, no list has answered before, so nothing more is asked. Throws no failure of a request.
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
