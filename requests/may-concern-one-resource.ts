import { isAnswer, isLimitOfService, NotSupported, RequestRefused } from '../source/errors.ts';
import { handlingOf } from './handling.ts';

/**
 * Whether the service may answer requests for another resource although it failed for this one. What concerns the token, the connection or the
 * organization concerns every resource, and so does a network failure.
 */
export function mayConcernOneResource(error: Error): boolean {
  if (isLimitOfService(error) || !isAnswer(error)) return false;
  return handlingOf(error) !== 'stop' || error instanceof RequestRefused || error instanceof NotSupported;
}
