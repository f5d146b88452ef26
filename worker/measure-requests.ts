import { nameOf } from '../errors/name-of.ts';
import type { ApiClient } from '../source/api-client.ts';
import { noteRequest } from './metrics.ts';

/** Wraps the client and counts the outcome of every request. */
export function measureRequests(api: ApiClient): ApiClient {
  return {
    list: (request) => measured(request, api.list(request)),
    fetch: (request) => measured(request, api.fetch(request)),
    close: () => api.close(),
  };
}

/** Error names are few and our own. An aborted request is not counted as a failure. */
async function measured<Answer>(
  request: { readonly signal?: AbortSignal | undefined },
  answer: Promise<Answer>,
): Promise<Answer> {
  try {
    const answered = await answer;
    noteRequest('ok');
    return answered;
  } catch (error) {
    const name = nameOf(error);
    noteRequest(request.signal?.aborted === true ? 'aborted' : name);
    throw error;
  }
}
