import type { Dispatcher } from 'undici';

/**
 * Passes on all that a request hears of: for an interceptor that changes one of these. undici's own DecoratorHandler is deprecated, and takes
 * no second response, as informational ones are.
 */
export function passingOn(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller, context) {
      handler.onRequestStart?.(controller, context);
    },
    onResponseStart(controller, statusCode, headers, statusMessage) {
      handler.onResponseStart?.(controller, statusCode, headers, statusMessage);
    },
    onResponseData(controller, chunk) {
      handler.onResponseData?.(controller, chunk);
    },
    onResponseEnd(controller, trailers) {
      handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError(controller, error) {
      handler.onResponseError?.(controller, error);
    },
  };
}
