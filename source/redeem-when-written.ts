import type { Dispatcher } from 'undici';
import { passingOn } from './passing-on.ts';
import type { Grant } from './request-budget.ts';

/**
 * Redeems the grant of a request when its first byte is about to be written: undici tells of that when the request has a
 * connection, made and free. A grant too old for it ends the request with GrantTooOld; the connection stays, for the next try.
 */
export function redeemWhenWritten(grant: Grant): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => dispatch(options, redeeming(handler, grant));
}

/** Nothing was sent. */
export class GrantTooOld extends Error {
  override readonly name = 'GrantTooOld';
}

/** undici takes what is thrown at the start for the end of the request, and keeps the connection; an abort would close it. */
function redeeming(handler: Dispatcher.DispatchHandler, grant: Grant): Dispatcher.DispatchHandler {
  return {
    ...passingOn(handler),
    onRequestStart(controller, context) {
      if (!grant.redeem()) throw new GrantTooOld();
      handler.onRequestStart?.(controller, context);
    },
  };
}
