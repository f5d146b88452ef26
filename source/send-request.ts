import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { errorFromResponse } from './error-from-response.ts';
import { RateLimited, SourceUnavailable, UnreadableResponse, type Failure } from './errors.ts';
import { readBody, readBodyStart } from './read-body.ts';
import type { RequestBudget } from './request-budget.ts';
import { servedAtOf } from './retry-after.ts';
import { withTimeLimit } from './time-limit.ts';

/** Where requests go, and what all of them have in common. */
export interface Service {
  readonly origin: string;
  /** The path of `{base_url}`, without a slash at its end. */
  readonly pathPrefix: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly budget: RequestBudget;
  readonly timeouts: Timeouts;
  readonly maxBodyBytes: number;
  readonly dispatcher: Dispatcher;
}

export interface Timeouts {
  readonly connectMilliseconds: number;
  readonly headersMilliseconds: number;
  /** The longest silence within a body. */
  readonly bodyIdleMilliseconds: number;
  /** The whole exchange, whatever is sent meanwhile. */
  readonly totalMilliseconds: number;
}

export interface ServiceRequest {
  readonly kind: 'list' | 'fetch';
  readonly accessToken: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** A response of status 200, as text. */
export interface Answer {
  readonly text: string;
  /** The service's time of the response, from its `Date` header: whole seconds. Null when it sends none. */
  readonly servedAt: Date | null;
  readonly requestId: string | null;
  /** For errors that only show when the text is read. */
  readonly failure: Failure;
}

/** Sends one GET as soon as the budget allows. */
export async function sendRequest(service: Service, request: ServiceRequest): Promise<Answer> {
  const silentUntil = await service.budget.take(request.signal);
  if (silentUntil !== undefined) {
    throw new RateLimited(
      { request: nameOf(request), status: null, errorCode: null, requestId: null },
      silentUntil,
    );
  }
  const response = await respond(service, request);
  const { status, requestId, text } = response;
  if (status === 200) {
    const failure = { request: nameOf(request), status, errorCode: null, requestId };
    return { text, servedAt: servedAtOf(response.date), requestId, failure };
  }
  const error = errorFromResponse({ ...response, request: nameOf(request), kind: request.kind }, new Date());
  // A limit of the service (429) counts for the whole organisation, one of the platform (452) for its connection alone.
  if (error instanceof RateLimited && status === 429) await service.budget.reportRateLimited(error.notBefore);
  throw error;
}

interface Response {
  readonly status: number;
  readonly requestId: string | null;
  readonly retryAfter: string | null;
  readonly date: string | null;
  readonly text: string;
}

/**
 * Of an error of the network nothing but its code is kept: undici's own may hold bytes of the response, and those a token.
 */
async function respond(service: Service, request: ServiceRequest): Promise<Response> {
  const { signal } = request;
  const limit = { milliseconds: service.timeouts.totalMilliseconds, signal };
  try {
    return await withTimeLimit(limit, (limited) => exchange(service, request, limited));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof UnreadableResponse) throw error;
    const failure = { request: nameOf(request), status: null, errorCode: null, requestId: null };
    throw new SourceUnavailable(failure, networkCodeOf(error));
  }
}

async function exchange(service: Service, request: ServiceRequest, signal: AbortSignal): Promise<Response> {
  const { statusCode, headers, body } = await service.dispatcher.request({
    origin: service.origin,
    path: `${service.pathPrefix}${request.path}?${queryOf(request)}`,
    method: 'GET',
    headers: service.headers,
    headersTimeout: service.timeouts.headersMilliseconds,
    bodyTimeout: service.timeouts.bodyIdleMilliseconds,
    signal,
  });
  const requestId = requestIdOf(headers, request.accessToken);
  const failure = { request: nameOf(request), status: statusCode, errorCode: null, requestId };
  return {
    status: statusCode,
    requestId,
    retryAfter: headerOf(headers, 'retry-after'),
    date: headerOf(headers, 'date'),
    text:
      statusCode === 200
        ? await readBody(body, service.maxBodyBytes, failure)
        : // What looks like an error code is shown, and a service may repeat there what it was sent.
          (await readBodyStart(body)).replaceAll(request.accessToken, '…'),
  };
}

function nameOf(request: ServiceRequest): string {
  return `GET ${request.path}`;
}

/** URLSearchParams writes a space as `+`, which not every server takes for one; a plus sign itself is `%2B` by then. */
function queryOf(request: ServiceRequest): string {
  const parameters = new URLSearchParams({ ...request.query, access_token: request.accessToken });
  return parameters.toString().replaceAll('+', '%20');
}

/** It will be shown, so what does not look like an id is not taken for one, nor what repeats the token. */
function requestIdOf(headers: IncomingHttpHeaders, accessToken: string): string | null {
  const id = headerOf(headers, 'x-service-request-id');
  return id !== null && /^[\w.:-]{1,128}$/.test(id) && !id.includes(accessToken) ? id : null;
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : (value?.[0] ?? null);
}

/** `ECONNRESET`, `UND_ERR_HEADERS_TIMEOUT`; where there is no code the name of the error says as much. */
function networkCodeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
