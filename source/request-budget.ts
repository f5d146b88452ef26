/** The organization's request allowance, shared by every worker. */
export interface RequestBudget {
  /**
   * Resolves when a request may be sent at once. If that takes too long to be worth the wait, resolves with the time during which nobody may send.
   * Rejects with the signal's reason, or an AbortError, if it is aborted.
   */
  take(signal?: AbortSignal): Promise<Grant | Silence>;
  /** The service asked for a pause: nobody may send a request for this time. */
  reportRateLimited(milliseconds: number): Promise<void>;
}

/** The allowance for one request. */
export interface Grant {
  /** Must be called when the request is written; returns false if the grant is too old for that. */
  redeem(): boolean;
  /** The request was answered or has failed, so it cannot arrive later; or it was never written. */
  release(): void;
}

export interface Silence {
  readonly silentMilliseconds: number;
}
