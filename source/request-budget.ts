/** The organisation's allowance of requests, shared by every worker. */
export interface RequestBudget {
  /**
   * Resolves when a request may be sent, at once; when that takes longer than is worth waiting for, resolves with how long
   * nobody may send. Rejects with the signal's reason, or an AbortError, when it is aborted.
   */
  take(signal?: AbortSignal): Promise<Grant | Silence>;
  /** The service asked for silence: nobody's requests are allowed for so long. */
  reportRateLimited(milliseconds: number): Promise<void>;
}

/** The allowance for one request. */
export interface Grant {
  /** To be called in the moment in which the request is written; when it returns false, the grant is too old for that. */
  redeem(): boolean;
  /** The request was answered or has failed, so that it will not arrive any later; or it was never written. */
  release(): void;
}

export interface Silence {
  readonly silentMilliseconds: number;
}
