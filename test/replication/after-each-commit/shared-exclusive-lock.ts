import { giveUpAfter } from './give-up-after.ts';

/** A shared/exclusive lock. */
export class SharedExclusiveLock {
  #inside = 0;
  #alone: Promise<void> = Promise.resolve();
  #isAlone = 0;
  #onEmpty: () => void = () => undefined;

  async acquireShared(): Promise<void> {
    while (this.#isAlone > 0) await this.#alone;
    this.#inside += 1;
  }

  releaseShared(): void {
    this.#inside -= 1;
    if (this.#inside === 0) this.#onEmpty();
  }

  /** Runs `work` once all shared holders have released the lock. New ones wait. */
  async runExclusive(work: () => Promise<void>): Promise<void> {
    this.#isAlone += 1;
    const before = this.#alone;
    const mine = before.then(() => this.#untilEmpty()).then(work);
    this.#alone = mine.catch(() => undefined).finally(() => (this.#isAlone -= 1));
    await mine;
  }

  async #untilEmpty(): Promise<void> {
    if (this.#inside === 0) return;
    const empty = new Promise<void>((resolve) => (this.#onEmpty = resolve));
    await giveUpAfter(5_000, 'A transaction waits for another one to begin.', empty);
  }
}
