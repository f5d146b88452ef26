/** The syncs of a connection that Temporal runs: one at a time. */
export class OpenSyncs {
  #open: { readonly runId: string; readonly ended: Promise<void> } | undefined;
  #started = 0;

  /** The one that runs. */
  get open(): string | undefined {
    return this.#open?.runId;
  }

  /** Runs one to its end; throws when one runs. */
  run(runId: string, work: () => Promise<void>): Promise<void> {
    if (this.#open !== undefined) throw new Error(`A sync is open: ${this.#open.runId}.`);
    const ended = work().finally(() => {
      this.#open = undefined;
    });
    this.#open = { runId, ended };
    return ended;
  }

  /** Names the next one that a tick starts. */
  nextOf(runId: string): string {
    this.#started += 1;
    return `${runId}-sync${this.#started}`;
  }
}
