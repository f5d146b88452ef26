import type { Dispatcher } from 'undici';
import { passingOn } from './passing-on.ts';

/**
 * Ends a request with TooManyInformational once its server has sent more informational responses (1xx) than any has reason to. undici does not
 * limit them, and 70 MB of them a second occupy a core for as long as the request may last.
 */
export function endInformationalFloods(): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => dispatch(options, counting(handler));
}

const mostInformational = 16;

class TooManyInformational extends Error {
  override readonly name = 'TooManyInformational';
  readonly code = 'TOO_MANY_INFORMATIONAL';
}

/** undici treats an error thrown in a response handler as the end of the request, and closes its connection. */
function counting(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  let informational = 0;
  return {
    ...passingOn(handler),
    onResponseStart(controller, statusCode, headers, statusMessage) {
      if (statusCode < 200) informational += 1;
      if (informational > mostInformational) throw new TooManyInformational();
      handler.onResponseStart?.(controller, statusCode, headers, statusMessage);
    },
  };
}
