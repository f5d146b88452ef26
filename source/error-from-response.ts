import {
  ConnectionDisabled,
  CredentialsRefused,
  NotSupported,
  PlatformAccessRefused,
  ProductNotReady,
  RateLimited,
  RecordGone,
  RequestRefused,
  SourceUnavailable,
  type Failure,
} from './errors.ts';
import { retryAfterMilliseconds, parseServedAt } from './retry-after.ts';

export interface ErrorResponse {
  /** Method and path, without the query string. */
  readonly request: string;
  readonly kind: 'list' | 'fetch';
  readonly status: number;
  readonly requestId: string | null;
  readonly retryAfter: string | null;
  /** The response's own `Date`: Retry-After is read by the same clock. */
  readonly date: string | null;
  /** The body, or its beginning. */
  readonly text: string;
}

/**
 * Interprets a response other than 200 (API document 7) by its status and `error_code` alone, and by the document's code for data that is not
 * ready. The service's message is written for people and may quote a token or a record, so it is neither interpreted nor repeated.
 */
export function errorFromResponse(response: ErrorResponse, now: Date): Error {
  const { request, status, requestId } = response;
  const errorCode = isNotReady(response) ? notReady : readErrorCode(response.text);
  const failure: Failure = { request, status, errorCode, requestId };
  if (errorCode === notReady) return new ProductNotReady(failure);
  if (status === 429 || status === 452) {
    return new RateLimited(failure, retryAfterMilliseconds(response, now) ?? rateLimitPauseMilliseconds);
  }
  if (status >= 500 || temporary.has(status)) return new SourceUnavailable(failure, null);
  if (isDisabled(failure)) return new ConnectionDisabled(failure);
  if (status === 401) return new CredentialsRefused(failure);
  if (status === 451) return new PlatformAccessRefused(failure);
  if (status === 404 && response.kind === 'list') return new NotSupported(failure);
  if ((status === 404 || status === 410) && response.kind === 'fetch')
    return new RecordGone(failure, parseServedAt(response.date));
  return new RequestRefused(failure);
}

const notReady = 'PRODUCT_NOT_READY';

/** The document shows neither this error's status nor the place of its name (7): it may be any text in JSON, or the body itself. */
function isNotReady({ status, text }: ErrorResponse): boolean {
  return status >= 400 && (text.includes(`"${notReady}"`) || text.trim() === notReady);
}

/** Maintenance pages use temporary redirects; 408 and 425 ask for a retry. */
const temporary: ReadonlySet<number> = new Set([302, 303, 307, 408, 425]);

/** The window in which the service counts requests. */
const rateLimitPauseMilliseconds = 10_000;

/** With a 401, INVALID_CREDENTIALS may also mean the organization's own credentials. */
function isDisabled({ status, errorCode }: Failure): boolean {
  return disabledCodes.has(errorCode) && !(status === 401 && errorCode === 'INVALID_CREDENTIALS');
}

const disabledCodes: ReadonlySet<string | null> = new Set([
  'INVALID_CREDENTIALS',
  'CONNECTION_DISABLED',
  'NEEDS_UPDATE',
  'PRODUCT_NOT_ALLOWED',
]);

/** Null for any body other than the documented one. Only a word that looks like a code is accepted, because it will be shown. */
function readErrorCode(body: string): string | null {
  const code = /"error_code"\s*:\s*"([A-Z][A-Z0-9_]{0,63})"/.exec(body)?.[1];
  return code ?? null;
}
