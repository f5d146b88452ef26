import { nameOf } from '../errors/name-of.ts';
import type { ApiClient } from '../source/api-client.ts';
import { noteRequest } from './metrics.ts';

/** The client, with the outcome of every request counted. */
export function measureRequests(api: ApiClient): ApiClient {
  return {
    list: (request) => measured(request, api.list(request)),
    fetch: (request) => measured(request, api.fetch(request)),
    close: () => api.close(),
  };
}

/** Error names are few and our own; a request that was given up is nobody's failure. */
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
