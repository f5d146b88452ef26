import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { AnswerLimits } from './answer-limits.ts';
import { codeOf } from '../errors/code-of.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { endInformationalFloods } from './end-informational-floods.ts';
import { errorFromResponse } from './error-from-response.ts';
import { RateLimited, SourceUnavailable, UnreadableResponse, type Failure } from './errors.ts';
import { readBody, readBodyStart, type Body } from './read-body.ts';
import { GrantTooOld, redeemWhenWritten } from './redeem-when-written.ts';
import type { Grant, RequestBudget } from './request-budget.ts';
import { parseServedAt } from './retry-after.ts';
import { endWhenSlow, type SlowestBody } from './slow-body.ts';
import { withTimeLimit } from './time-limit.ts';
import { withoutTokensWithin } from './tokens-within.ts';
import { isFreeOfSecrets, longEnough, withoutSecrets } from '../errors/without-secrets.ts';

/** The service's address, and everything that its requests share. */
export interface Service {
  readonly origin: string;
  /** The path of `{base_url}`, without a trailing slash. */
  readonly pathPrefix: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The secrets in the headers: they are never shown, even if the service repeats them. */
  readonly secrets: readonly string[];
  readonly budget: RequestBudget;
  /** As many as there are connections: a request that waits for a connection holds no grant. */
  readonly exchanges: ConcurrencyLimit;
  /** One request at a time asks the budget, so that grants are given in turn. */
  readonly questions: ConcurrencyLimit;
  readonly timeouts: Timeouts;
  readonly limits: AnswerLimits;
  readonly dispatcher: Dispatcher;
}

export interface Timeouts {
  readonly connectMilliseconds: number;
  readonly headersMilliseconds: number;
  /** The longest silence within a body. */
  readonly bodyIdleMilliseconds: number;
  /** A body that has begun and brings fewer bytes than these within this time is aborted. */
  readonly slowestBody: SlowestBody;
  /** The limit for the whole exchange, whatever is sent meanwhile. */
  readonly totalMilliseconds: number;
}

export interface ServiceRequest {
  readonly kind: 'list' | 'fetch';
  readonly accessToken: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Called when the budget allows no request yet. */
  readonly onHeldBack?: (() => void) | undefined;
}

/** A response of status 200. */
export interface Answer {
  readonly body: Body;
  /** The service's time of the response, from its `Date` header: whole seconds. Null if it sent none. */
  readonly servedAt: Date | null;
  /** The arrival of its headers, by the clock of this process. */
  readonly receivedAt: Date;
  readonly requestId: string | null;
  /** The request's secrets, to be removed from text that is stored or shown unchanged. */
  readonly secrets: readonly string[];
  /** The facts for errors that only appear when the text is read. */
  readonly failure: Failure;
}

/**
 * Sends one GET as soon as a connection is free and the budget allows. Companies take turns: a company with endless lists delays another company's
 * request by one of its own, not by all that are waiting.
 */
export async function sendRequest(service: Service, request: ServiceRequest): Promise<Answer> {
  const response = await service.exchanges.run(asCaller(request), () => respondWithGrant(service, request));
  const { status, requestId, receivedAt, body } = response;
  if (body !== null) {
    const failure = { request: requestName(service, request), status, errorCode: null, requestId };
    const secrets = listSecrets(service, request);
    return { body, servedAt: parseServedAt(response.date), receivedAt, requestId, secrets, failure };
  }
  const error = errorFromResponse(
    { ...response, request: requestName(service, request), kind: request.kind },
    new Date(),
  );
  // A limit of the service (429) applies to the whole organization, a limit of the platform (452) to its connection alone.
  if (error instanceof RateLimited && status === 429)
    await service.budget.reportRateLimited(error.milliseconds);
  throw error;
}

interface Response {
  readonly status: number;
  readonly requestId: string | null;
  readonly retryAfter: string | null;
  readonly date: string | null;
  readonly receivedAt: Date;
  /** The body of a 200; null for any other status. */
  readonly body: Body | null;
  /** The beginning of the body for any other status. */
  readonly text: string;
}

/** A request that could not be written in time takes another grant, because a grant's age counts from its issue. */
async function respondWithGrant(service: Service, request: ServiceRequest): Promise<Response> {
  for (;;) {
    const grant = await grantInTurn(service, request);
    try {
      return await respond(service, request, grant);
    } catch (error) {
      if (!(error instanceof GrantTooOld)) throw error;
    } finally {
      grant.release();
    }
  }
}

async function grantInTurn(service: Service, request: ServiceRequest): Promise<Grant> {
  const heldBack = setTimeout(() => request.onHeldBack?.(), momentMilliseconds);
  try {
    return await service.questions.run(asCaller(request), () => takeGrant(service, request));
  } finally {
    clearTimeout(heldBack);
  }
}

/** The time that other requests' calls to the budget take. */
const momentMilliseconds = 50;

function asCaller({ accessToken: of, signal }: ServiceRequest): Parameters<ConcurrencyLimit['run']>[0] {
  return { of, signal };
}

async function takeGrant(service: Service, request: ServiceRequest): Promise<Grant> {
  const { signal } = request;
  const taken = await service.budget.take(signal).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
  if (!('silentMilliseconds' in taken)) return taken;
  const failure = { request: requestName(service, request), status: null, errorCode: null, requestId: null };
  throw new RateLimited(failure, taken.silentMilliseconds);
}

/**
 * Sends a request. Keeps only the code of a network error: undici's own error may hold bytes of the response, and they may hold a token.
 */
async function respond(service: Service, request: ServiceRequest, grant: Grant): Promise<Response> {
  const { signal } = request;
  const limit = { milliseconds: service.timeouts.totalMilliseconds, signal };
  try {
    return await withTimeLimit(limit, (limited) => exchange(service, { ...request, signal: limited }, grant));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof UnreadableResponse || error instanceof GrantTooOld) throw error;
    const failure = {
      request: requestName(service, request),
      status: null,
      errorCode: null,
      requestId: null,
    };
    throw new SourceUnavailable(failure, networkCodeOf(error));
  }
}

async function exchange(service: Service, request: ServiceRequest, grant: Grant): Promise<Response> {
  const dispatcher = service.dispatcher.compose(redeemWhenWritten(grant), endInformationalFloods());
  const { statusCode, headers, body } = await dispatcher.request({
    origin: service.origin,
    path: `${service.pathPrefix}${request.path}?${formatQuery(request)}`,
    method: 'GET',
    headers: service.headers,
    headersTimeout: service.timeouts.headersMilliseconds,
    bodyTimeout: service.timeouts.bodyIdleMilliseconds,
    signal: request.signal,
  });
  const receivedAt = new Date();
  const secrets = listSecrets(service, request);
  const requestId = readRequestId(headers, secrets);
  const failure = { request: requestName(service, request), status: statusCode, errorCode: null, requestId };
  const pieces = endWhenSlow(body, service.timeouts.slowestBody);
  return {
    status: statusCode,
    requestId,
    retryAfter: readHeader(headers, 'retry-after'),
    date: readHeader(headers, 'date'),
    receivedAt,
    body: statusCode === 200 ? await readBody(pieces, service.limits, failure) : null,
    // Text that looks like an error code is shown, and a service may repeat its input there.
    text: statusCode === 200 ? '' : withoutSecrets(await readBodyStart(pieces), secrets),
  };
}

function listSecrets(service: Service, request: ServiceRequest): readonly string[] {
  return [...service.secrets, request.accessToken];
}

/** Removes secrets, because a service may use a token that it received as a record's ID. */
function requestName(service: Service, request: ServiceRequest): string {
  return `GET ${withoutSecrets(request.path, longEnough(listSecrets(service, request)))}`;
}

/** URLSearchParams writes a space as `+`, which not every server decodes as a space; a plus sign itself is already `%2B`. */
function formatQuery(request: ServiceRequest): string {
  const parameters = new URLSearchParams({ ...request.query, access_token: request.accessToken });
  return parameters.toString().replaceAll('+', '%20');
}

/** It will be shown, so text that does not look like an id, or repeats a secret or a token, is rejected. */
function readRequestId(headers: IncomingHttpHeaders, secrets: readonly string[]): string | null {
  const id = readHeader(headers, 'x-service-request-id');
  if (id === null || !idPattern.test(id)) return null;
  return isFreeOfSecrets(id, secrets) && withoutTokensWithin(id) === id ? id : null;
}

/** Names and numbers, or base64 and pairs of them (`Root=1-67891233-abcdef`): with `/`, no `.` or `:`, so no address of the web. */
const idPattern = /^(?:[\w.:-]{1,128}|[\w+/=-]{1,128})$/;

function readHeader(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : (value?.[0] ?? null);
}

/** `ECONNRESET`, `UND_ERR_HEADERS_TIMEOUT`; if there is no code, the error's name says as much. */
function networkCodeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = codeOf(error);
  return typeof code === 'string' ? code : error.name;
}
