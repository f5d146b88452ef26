/** The syncs of a connection that Temporal runs, one at a time. */
export class OpenSyncs {
  #open: { readonly runId: string; readonly ended: Promise<void> } | undefined;
  #started = 0;

  /** The sync that is running. */
  get open(): string | undefined {
    return this.#open?.runId;
  }

  /** Runs a sync to its end. Throws if another one is running. */
  run(runId: string, work: () => Promise<void>): Promise<void> {
    if (this.#open !== undefined) throw new Error(`A sync is open: ${this.#open.runId}.`);
    const ended = work().finally(() => {
      this.#open = undefined;
    });
    this.#open = { runId, ended };
    return ended;
  }

  /** Names the next sync that a tick starts. */
  nameNext(runId: string): string {
    this.#started += 1;
    return `${runId}-sync${this.#started}`;
  }
}
