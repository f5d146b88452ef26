/**
 * What the caller should do: try again soon, try again after the error's `milliseconds`, give up and tell a person, or read the
 * stream again from its watermark.
 */
export type Handling = 'retry' | 'wait' | 'stop' | 'restart';

/** The facts of a failure that may be shown to anybody: no query string, no body, no header that the client sent. */
export interface Failure {
  /** Method and path: `GET /accounting/bills`. */
  readonly request: string;
  /** Null when there was no response. */
  readonly status: number | null;
  /** The service's `error_code`. */
  readonly errorCode: string | null;
  readonly requestId: string | null;
}

abstract class SourceError extends Error {
  abstract readonly handling: Handling;
  readonly request: string;
  readonly status: number | null;
  readonly errorCode: string | null;
  readonly requestId: string | null;

  constructor(failure: Failure, sentence: { happened: string; advice: string }) {
    super(`${failure.request} ${sentence.happened}${detailsOf(failure)}: ${sentence.advice}.`);
    this.request = failure.request;
    this.status = failure.status;
    this.errorCode = failure.errorCode;
    this.requestId = failure.requestId;
  }
}

/** No answer, or one that says that the service or the platform is down. */
export class SourceUnavailable extends SourceError {
  override readonly name = 'SourceUnavailable';
  readonly handling = 'retry';
  /** What the network said (`ECONNRESET`); null when there was a response. */
  readonly code: string | null;

  constructor(failure: Failure, code: string | null) {
    super(failure, {
      happened: code === null ? 'failed' : `got no complete answer (${code})`,
      advice: 'it is tried again; if that does not help, check that the finance API is in reach and up',
    });
    this.code = code;
  }
}

/** The service said that all is well, but what it sent is not the JSON of API document 4.1. */
export class UnreadableResponse extends SourceError {
  override readonly name = 'UnreadableResponse';
  readonly handling = 'retry';

  /** `problem` completes "answered with …". */
  constructor(failure: Failure, problem: string) {
    super(failure, {
      happened: `answered with ${problem}`,
      advice: 'it is tried again; if that does not help, check DAYBOOK_API_URL and any proxy in between',
    });
  }
}

/** A page named itself as the next one: following it would never end. */
export class CursorNotMoving extends SourceError {
  override readonly name = 'CursorNotMoving';
  readonly handling = 'retry';

  constructor(failure: Failure) {
    super(failure, {
      happened: 'answered with the cursor it was asked with',
      advice: 'the page is asked for again; if that does not help, report it to the finance API',
    });
  }
}

/** 429 of the service or 452 of the platform. */
export class RateLimited extends SourceError {
  override readonly name = 'RateLimited';
  readonly handling = 'wait';
  /** How long nothing is to be asked: a duration, which no clock that is wrong makes longer. */
  readonly milliseconds: number;

  constructor(failure: Failure, milliseconds: number) {
    super(failure, {
      happened: 'came too soon after other requests',
      advice: `it is sent again in ${Math.ceil(milliseconds / 1000)} s; DAYBOOK_API_REQUESTS_PER_10S makes this rarer`,
    });
    this.milliseconds = milliseconds;
  }
}

/** The initial sync of the service itself is not over (API document 7, rule 1); it may take days. */
export class ProductNotReady extends SourceError {
  override readonly name = 'ProductNotReady';
  readonly handling = 'wait';

  constructor(failure: Failure) {
    super(failure, {
      happened: 'has no data yet',
      advice: 'the service still copies it from the platform, so Daybook waits and asks again',
    });
  }
}

export class CredentialsRefused extends SourceError {
  override readonly name = 'CredentialsRefused';
  readonly handling = 'stop';

  constructor(failure: Failure) {
    super(failure, {
      happened: 'was refused for its credentials',
      advice:
        'check DAYBOOK_CLIENT_ID, DAYBOOK_CLIENT_SECRET and DAYBOOK_API_URL, or set the token with "daybook connection set-token"',
    });
  }
}

/** 451: the accounting platform no longer lets the service in. */
export class PlatformAccessRefused extends SourceError {
  override readonly name = 'PlatformAccessRefused';
  readonly handling = 'stop';

  constructor(failure: Failure) {
    super(failure, {
      happened: 'was refused by the accounting platform',
      advice: 'authorise the connection again at the finance API, then resume it',
    });
  }
}

export class ConnectionDisabled extends SourceError {
  override readonly name = 'ConnectionDisabled';
  readonly handling = 'stop';

  constructor(failure: Failure) {
    super(failure, {
      happened: 'was refused because the connection does not work at the service',
      advice: 'repair or re-authorise the connection at the finance API, then resume it',
    });
  }
}

/** A request that will be refused however often it is sent. */
export class RequestRefused extends SourceError {
  override readonly name = 'RequestRefused';
  readonly handling = 'stop';

  constructor(failure: Failure) {
    super(failure, {
      happened: 'was refused',
      advice: 'check DAYBOOK_API_URL and DAYBOOK_API_VERSION, and give the request id to the finance API',
    });
  }
}

/** 404 on a list: the platform of this connection does not have the resource. It says nothing about records. */
export class NotSupported extends SourceError {
  override readonly name = 'NotSupported';
  readonly handling = 'stop';

  constructor(failure: Failure) {
    super(failure, {
      happened: 'is not supported for this connection',
      advice: 'nothing is to be done, the other resources are synced',
    });
  }
}

/**
 * 404 or 410 on a fetch, which `status` says: the service has no such record, or with a 404 perhaps cannot fetch any. See
 * `createAbsenceProof`.
 */
export class RecordGone extends SourceError {
  override readonly name = 'RecordGone';
  readonly handling = 'stop';
  /** The service's time of the response, in whole seconds; null when it does not tell. */
  readonly servedAt: Date | null;

  constructor(failure: Failure, servedAt: Date | null) {
    super(failure, {
      happened: 'found no such record',
      advice: 'it was deleted at the source, never existed, or cannot be fetched',
    });
    this.servedAt = servedAt;
  }
}

/** The service refuses a cursor it gave earlier. */
export class CursorRefused extends SourceError {
  override readonly name = 'CursorRefused';
  readonly handling = 'restart';

  constructor(failure: Failure) {
    super(failure, {
      happened: 'was refused with a cursor of an earlier page',
      advice: 'the stream is read again from its watermark',
    });
  }
}

/** Whether the service answered: a network that broke says nothing about what was asked for. */
export function isAnswer(error: unknown): boolean {
  return error instanceof SourceError && error.status !== null;
}

function detailsOf({ status, errorCode, requestId }: Failure): string {
  const details = [
    ...(status === null ? [] : [String(status)]),
    ...(errorCode === null ? [] : [errorCode]),
    ...(requestId === null ? [] : [`request ${requestId}`]),
  ];
  return details.length === 0 ? '' : ` (${details.join(', ')})`;
}
