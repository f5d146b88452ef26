import type { Handling } from '../errors/handling.ts';

/** The facts of a failure that may be shown to anyone: no query string, no body, no request header. */
export interface Failure {
  /** Method and path: `GET /accounting/bills`. */
  readonly request: string;
  /** Null if there was no response. */
  readonly status: number | null;
  /** The service's `error_code`. */
  readonly errorCode: string | null;
  readonly requestId: string | null;
}

/**
 * The sentence of each error (`request happened: advice.`) and its handling, by name. The name is the failure type in Temporal, on which
 * operators filter.
 */
const kinds = {
  SourceUnavailable: {
    handling: 'retry',
    happened: 'failed',
    advice: 'it will be retried; if that does not help, check that the finance API is up and reachable',
  },
  UnreadableResponse: {
    handling: 'retry',
    happened: 'answered with',
    advice: 'it will be retried; if that does not help, check DAYBOOK_API_URL and any proxy in between',
  },
  CursorNotMoving: {
    handling: 'retry',
    happened: 'returned the cursor that it was sent',
    advice: 'the page will be requested again; if that does not help, report it to the finance API',
  },
  RateLimited: {
    handling: 'wait',
    happened: 'came too soon after other requests',
    advice: 'lower DAYBOOK_API_REQUESTS_PER_10S to make this rarer',
  },
  ProductNotReady: {
    handling: 'wait',
    happened: 'has no data yet',
    advice: 'the service is still copying it from the platform; Daybook waits and retries',
  },
  CredentialsRefused: {
    handling: 'stop',
    happened: 'was refused for its credentials',
    advice:
      'check DAYBOOK_CLIENT_ID, DAYBOOK_CLIENT_SECRET and DAYBOOK_API_URL, or set the token with "daybook connection set-token"',
  },
  PlatformAccessRefused: {
    handling: 'stop',
    happened: 'was refused by the accounting platform',
    advice: 'authorize the connection again at the finance API, then resume it',
  },
  ConnectionDisabled: {
    handling: 'stop',
    happened: 'was refused because the connection does not work at the service',
    advice: 'repair or reauthorize the connection at the finance API, then resume it',
  },
  RequestRefused: {
    handling: 'stop',
    happened: 'was refused',
    advice: 'check DAYBOOK_API_URL and DAYBOOK_API_VERSION, and give the request id to the finance API',
  },
  NotSupported: {
    handling: 'stop',
    happened: 'is not supported for this connection',
    advice: 'nothing to do: the other resources are synced',
  },
  RecordGone: {
    handling: 'stop',
    happened: 'found no such record',
    advice: 'it was deleted at the source, never existed, or cannot be fetched',
  },
  FetchWavers: {
    handling: 'retry',
    happened: 'found no such record, and then found it',
    advice: 'it will be requested again; if that does not help, report it to the finance API',
  },
  CursorRefused: {
    handling: 'restart',
    happened: 'was refused with a cursor of an earlier page',
    advice: 'the stream will be reread from its watermark',
  },
} as const satisfies Record<string, Sentence & { readonly handling: Handling }>;

class SourceError<Kind extends keyof typeof kinds> extends Error {
  override readonly name: Kind;
  readonly handling: (typeof kinds)[Kind]['handling'];
  readonly request: string;
  readonly status: number | null;
  readonly errorCode: string | null;
  readonly requestId: string | null;

  /** `said` overrides parts of the kind's sentence. */
  constructor(kind: Kind, failure: Failure, said: Partial<Sentence> = {}) {
    const { happened, advice } = { ...kinds[kind], ...said };
    super(`${failure.request} ${happened}${formatDetails(failure)}: ${advice}.`);
    this.name = kind;
    this.handling = kinds[kind].handling;
    this.request = failure.request;
    this.status = failure.status;
    this.errorCode = failure.errorCode;
    this.requestId = failure.requestId;
  }
}

/** No response, or one that says that the service or the platform is down. */
export class SourceUnavailable extends SourceError<'SourceUnavailable'> {
  /** The network's error code (`ECONNRESET`); null if there was a response. */
  readonly code: string | null;

  constructor(failure: Failure, code: string | null) {
    super(
      'SourceUnavailable',
      failure,
      code === null ? {} : { happened: `got no complete answer (${code})` },
    );
    this.code = code;
  }
}

/** The status was a success, but the body is not the JSON of API document 4.1. */
export class UnreadableResponse extends SourceError<'UnreadableResponse'> {
  /** `problem` completes "answered with …". */
  constructor(failure: Failure, problem: string) {
    super('UnreadableResponse', failure, { happened: `${kinds.UnreadableResponse.happened} ${problem}` });
  }
}

/** The response exceeds Daybook's memory limits. It is handled like an unreadable one, unless a smaller page can be requested. */
export class AnswerTooLarge extends UnreadableResponse {}

/** 429 of the service or 452 of the platform. */
export class RateLimited extends SourceError<'RateLimited'> {
  /** How long to send no requests. A duration, so that a wrong clock cannot extend it. */
  readonly milliseconds: number;

  constructor(failure: Failure, milliseconds: number) {
    const seconds = Math.ceil(milliseconds / 1000);
    super('RateLimited', failure, {
      advice: `it will be sent again in ${seconds} s; ${kinds.RateLimited.advice}`,
    });
    this.milliseconds = milliseconds;
  }
}

/**
 * A 404 or 410 on a fetch, see `status`: the service has no such record, or, with a 404, perhaps cannot fetch any. Or a 200 with another record.
 * See `createAbsenceProof`.
 */
export class RecordGone extends SourceError<'RecordGone'> {
  /** The service's time of the response, in whole seconds; null if it sent none. */
  readonly servedAt: Date | null;

  constructor(failure: Failure, servedAt: Date | null) {
    super('RecordGone', failure);
    this.servedAt = servedAt;
  }
}

/** A fetch that was sent twice once found no record and once found it, so the next result is unpredictable. */
export const FetchWavers = createErrorClass('FetchWavers');

/** A page named its own cursor as the next one: following it would never end. */
export const CursorNotMoving = createErrorClass('CursorNotMoving');

/** The service refuses a cursor that it returned earlier. */
export const CursorRefused = createErrorClass('CursorRefused');

/** The service's own initial sync is not over (API document 7, rule 1); it may take days. */
export const ProductNotReady = createErrorClass('ProductNotReady');

export const CredentialsRefused = createErrorClass('CredentialsRefused');

/** 451: the accounting platform no longer lets the service in. */
export const PlatformAccessRefused = createErrorClass('PlatformAccessRefused');

export const ConnectionDisabled = createErrorClass('ConnectionDisabled');

/** A request that will be refused however often it is sent. */
export const RequestRefused = createErrorClass('RequestRefused');
export type RequestRefused = SourceError<'RequestRefused'>;

/** 404 on a list: the platform of this connection does not have the resource. It says nothing about records. */
export const NotSupported = createErrorClass('NotSupported');
export type NotSupported = SourceError<'NotSupported'>;

/** Creates the class of a kind without facts of its own. */
function createErrorClass<Kind extends keyof typeof kinds>(
  kind: Kind,
): new (failure: Failure) => SourceError<Kind> {
  return class extends SourceError<Kind> {
    // Logs name an error by its class.
    static override readonly name = kind;

    constructor(failure: Failure) {
      super(kind, failure);
    }
  };
}

/** Whether a request to the service failed, with a response or without. */
export function isRequestFailure(error: unknown): boolean {
  return error instanceof SourceError;
}

/** Whether the organization sent too many requests (429, or none sent during that pause). 452 is the limit of one company's platform. */
export function isLimitOfService(error: unknown): boolean {
  return error instanceof RateLimited && error.status !== 452;
}

/** Whether the service responded: a network failure tells nothing about the requested data. */
export function isAnswer(error: unknown): boolean {
  return error instanceof SourceError && error.status !== null;
}

function formatDetails({ status, errorCode, requestId }: Failure): string {
  const details = [
    ...(status === null ? [] : [String(status)]),
    ...(errorCode === null ? [] : [errorCode]),
    ...(requestId === null ? [] : [`request ${requestId}`]),
  ];
  return details.length === 0 ? '' : ` (${details.join(', ')})`;
}

interface Sentence {
  readonly happened: string;
  readonly advice: string;
}
