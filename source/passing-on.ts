import type { Dispatcher } from 'undici';

/**
 * Passes on all events of a request, for an interceptor that overrides some. undici's own DecoratorHandler is deprecated, and accepts no
 * second response, such as informational ones.
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
