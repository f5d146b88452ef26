import type { Dispatcher } from 'undici';
import { passingOn } from './passing-on.ts';
import type { Grant } from './request-budget.ts';

/**
 * Redeems the grant of a request when its first byte is about to be written: undici reports this once the request has a free connection.
 * A grant that is too old ends the request with GrantTooOld; the connection stays open for the retry.
 */
export function redeemWhenWritten(grant: Grant): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => dispatch(options, redeeming(handler, grant));
}

/** Nothing was sent. */
export class GrantTooOld extends Error {
  override readonly name = 'GrantTooOld';
}

/** undici treats an error thrown at the start as the end of the request, and keeps the connection; an abort would close it. */
function redeeming(handler: Dispatcher.DispatchHandler, grant: Grant): Dispatcher.DispatchHandler {
  return {
    ...passingOn(handler),
    onRequestStart(controller, context) {
      if (!grant.redeem()) throw new GrantTooOld();
      handler.onRequestStart?.(controller, context);
    },
  };
}
