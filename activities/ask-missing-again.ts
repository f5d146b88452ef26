import type { ApiClient } from '../source/api-client.ts';
import { NotSupported } from '../source/errors.ts';
import type { Dependencies } from './dependencies.ts';

/** A route that is starting, or a gateway in the middle of a deploy, answers 404 for a moment. */
const momentMilliseconds = 5_000;

/**
 * The client for a list that has not returned a page yet. A platform without the list answers 404, and so does a service for a moment: only
 * two 404s in a row are passed on. Any other result of the second request counts as if it were the first.
 */
export function askMissingAgain(api: ApiClient, pause: Dependencies['pause']): ApiClient {
  let hasAnswered = false;
  const ask: ApiClient['list'] = async (request) => {
    const page = await api.list(request);
    hasAnswered = true;
    return page;
  };
  return {
    ...api,
    async list(request) {
      try {
        return await ask(request);
      } catch (error) {
        if (hasAnswered || !(error instanceof NotSupported)) throw error;
        await pause(momentMilliseconds, request.signal);
        return ask(request);
      }
    },
  };
}
