import type { Dispatcher } from 'undici';
import { errorFromResponse } from './error-from-response.ts';
import { RateLimited, SourceUnavailable, type Failure } from './errors.ts';
import { readBody, readBodyStart } from './read-body.ts';
import type { RequestBudget } from './request-budget.ts';
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
  readonly requestId: string | null;
  /** For errors that only show when the text is read. */
  readonly failure: Failure;
}

/** Sends one GET as soon as the budget allows. What the client library says stays here: it may quote the address or the body. */
export async function sendRequest(service: Service, request: ServiceRequest): Promise<Answer> {
  const { signal } = request;
  await service.budget.take(signal);
  const limit = { milliseconds: service.timeouts.totalMilliseconds, signal };
  try {
    return await withTimeLimit(limit, (limited) => exchange(service, request, limited));
  } catch (error) {
    signal?.throwIfAborted();
    const code = networkCodeOf(error);
    if (code === null) throw error;
    const failure = { request: nameOf(request), status: null, errorCode: null, requestId: null };
    throw new SourceUnavailable(failure, code);
  }
}

async function exchange(service: Service, request: ServiceRequest, signal: AbortSignal): Promise<Answer> {
  const { headersMilliseconds, bodyIdleMilliseconds } = service.timeouts;
  const response = await service.dispatcher.request({
    origin: service.origin,
    path: `${service.pathPrefix}${request.path}?${queryOf(request)}`,
    method: 'GET',
    headers: service.headers,
    headersTimeout: headersMilliseconds,
    bodyTimeout: bodyIdleMilliseconds,
    signal,
  });
  const requestId = requestIdOf(response);
  if (response.statusCode !== 200) throw await refusal(service, request, response);
  const failure = { request: nameOf(request), status: 200, errorCode: null, requestId };
  return { text: await readBody(response.body, service.maxBodyBytes, failure), requestId, failure };
}

/** A limit of the service counts for the whole organisation (429); one of the platform for its connection alone (452). */
async function refusal(
  service: Service,
  request: ServiceRequest,
  response: Dispatcher.ResponseData,
): Promise<Error> {
  const error = errorFromResponse(
    {
      request: nameOf(request),
      kind: request.kind,
      status: response.statusCode,
      requestId: requestIdOf(response),
      retryAfter: headerOf(response, 'retry-after'),
      date: headerOf(response, 'date'),
      body: await readBodyStart(response.body),
    },
    new Date(),
  );
  if (error instanceof RateLimited && error.status === 429) {
    await service.budget.reportRateLimited(error.notBefore);
  }
  return error;
}

function nameOf(request: ServiceRequest): string {
  return `GET ${request.path}`;
}

/** URLSearchParams writes a space as `+`, which not every server takes for one; a plus sign itself is `%2B` by then. */
function queryOf(request: ServiceRequest): string {
  const parameters = new URLSearchParams({ ...request.query, access_token: request.accessToken });
  return parameters.toString().replaceAll('+', '%20');
}

/** It will be shown, so what does not look like an id is not taken for one. */
function requestIdOf(response: Dispatcher.ResponseData): string | null {
  const id = headerOf(response, 'x-service-request-id');
  return id !== null && /^[\w.:-]{1,128}$/.test(id) ? id : null;
}

function headerOf(response: Dispatcher.ResponseData, name: string): string | null {
  const value = response.headers[name];
  return typeof value === 'string' ? value : (value?.[0] ?? null);
}

/** The system and undici give every failure of the network a code; our own errors and defects have none. */
function networkCodeOf(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : null;
}
