import { Agent, type Dispatcher } from 'undici';
import type { Resource } from '../resources/resource.ts';
import type { FindHeld } from '../resources/source-record.ts';
import { answerLimits, type AnswerLimits } from './answer-limits.ts';
import { limitConcurrency } from './concurrency-limit.ts';
import type { List } from './lists.ts';
import { parseFetchedRecord, parseListPage, type FetchedRecord, type ListPage } from './responses.ts';
import type { RequestBudget } from './request-budget.ts';
import { sendRequest, type Service, type Timeouts } from './send-request.ts';

export interface ApiClient {
  /**
   * One page of a list (API document 4.1). Rejects with the error classes of `errors.ts`; an abort rejects with the signal's reason. Does not
   * retry: the caller knows its deadline.
   */
  list(request: ListRequest): Promise<ListPage>;
  /** Fetches one record by its id, with the same errors; RecordGone if the service has none. */
  fetch(request: FetchRequest): Promise<FetchedRecord>;
  /** Ends the connections to the service once the running requests are over. */
  close(): Promise<void>;
}

export interface ListRequest extends List {
  readonly accessToken: string;
  readonly signal?: AbortSignal | undefined;
  /** Resolves when the caller only waits for the response. Absent: it only waits from the start. */
  readonly awaited?: Promise<void> | undefined;
  /** Called when the budget allows no request yet. */
  readonly onHeldBack?: (() => void) | undefined;
  /** Awaited when the response has arrived, before any processing that takes memory or CPU. */
  readonly onReceived?: (() => Promise<void>) | undefined;
  /** Finds records that need not be parsed or checked again. Absent: none. */
  readonly findHeld?: FindHeld | undefined;
}

export interface FetchRequest {
  readonly accessToken: string;
  readonly resource: Pick<Resource, 'listPath' | 'singular'>;
  readonly id: string;
  readonly signal?: AbortSignal | undefined;
  /** As in `ListRequest`. */
  readonly awaited?: Promise<void> | undefined;
  readonly onHeldBack?: (() => void) | undefined;
  readonly onReceived?: (() => Promise<void>) | undefined;
}

export interface ApiClientSettings {
  /** `{base_url}` of the service, in production with `/versioned`. */
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** `X-Service-Version`. */
  readonly version: string;
  readonly budget: RequestBudget;
  readonly timeouts?: Partial<Timeouts>;
  readonly limits?: Partial<AnswerLimits>;
  /** Replaces the client's own connections; its creator closes it. */
  readonly dispatcher?: Dispatcher;
}

export function createApiClient(settings: ApiClientSettings): ApiClient {
  const timeouts = { ...defaultTimeouts, ...settings.timeouts };
  const agent = settings.dispatcher ?? createAgent(timeouts);
  const service = buildService(settings, timeouts, agent);
  return {
    async list({ plural, findHeld, ...request }) {
      const answer = await sendRequest(service, { ...request, kind: 'list' });
      await request.onReceived?.();
      return parseListPage(answer, plural, { limits: service.limits, findHeld });
    },
    async fetch({ resource, id, ...request }) {
      const path = `${resource.listPath}/${encodeURIComponent(id)}`;
      const answer = await sendRequest(service, { ...request, path, query: {}, kind: 'fetch' });
      await request.onReceived?.();
      return parseFetchedRecord(answer, { singular: resource.singular, id });
    },
    async close() {
      if (settings.dispatcher === undefined) await agent.close();
    },
  };
}

/**
 * A page of 500 records takes a second or two. A service may take a minute to begin. Once a body has begun, a sender that delivers next to
 * nothing is soon dropped. The total limits a sender that delivers slightly more than that.
 */
const defaultTimeouts: Timeouts = {
  connectMilliseconds: 10_000,
  headersMilliseconds: 60_000,
  bodyIdleMilliseconds: 60_000,
  slowestBody: { bytes: 20_000, milliseconds: 20_000 },
  totalMilliseconds: 120_000,
};

/** More than the budget of 50 requests a second occupies at a second each: several companies may not answer for a minute or two. */
const maxConnections = 256;

function createAgent(timeouts: Timeouts): Agent {
  return new Agent({ connections: maxConnections, connect: { timeout: timeouts.connectMilliseconds } });
}

function buildService(settings: ApiClientSettings, timeouts: Timeouts, dispatcher: Dispatcher): Service {
  const base = new URL(settings.baseUrl);
  const credentials = Buffer.from(`${settings.clientId}:${settings.clientSecret}`).toString('base64');
  return {
    origin: base.origin,
    pathPrefix: base.pathname.replace(/\/+$/, ''),
    headers: {
      authorization: `Basic ${credentials}`,
      'x-service-version': settings.version,
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'daybook',
    },
    secrets: [`${settings.clientId}:${settings.clientSecret}`, settings.clientSecret],
    budget: settings.budget,
    exchanges: limitConcurrency(maxConnections),
    questions: limitConcurrency(1),
    timeouts,
    limits: { ...answerLimits, ...settings.limits },
    dispatcher,
  };
}
