/** The organisation's allowance of requests, shared by every worker. */
export interface RequestBudget {
  /**
   * Resolves when a request may be sent, at once; when that takes longer than is worth waiting for, resolves with the time
   * before which none may. Rejects with the signal's reason when it is aborted.
   */
  take(signal?: AbortSignal): Promise<Date | undefined>;
  /** The service asked for silence: nobody's requests are allowed before. */
  reportRateLimited(notBefore: Date): Promise<void>;
}
