/** The organisation's allowance of requests, shared by every worker. */
export interface RequestBudget {
  /** Resolves when a request may be sent, at once; rejects with the signal's reason when it is aborted. */
  take(signal?: AbortSignal): Promise<void>;
  /** The service asked for silence: nobody's requests are allowed before. */
  reportRateLimited(notBefore: Date): Promise<void>;
}
