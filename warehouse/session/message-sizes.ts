/** Finds the sizes of messages in what a Postgres server sends, however it is split. */
export class MessageSizes {
  #head: readonly number[] = [];
  #left = 0;

  /** Returns the largest size in bytes that a message beginning in `data` announces; 0 if none begins. */
  largestIn(data: Buffer): number {
    let largest = 0;
    let at = 0;
    while (at < data.length) {
      const passed = Math.min(this.#left, data.length - at);
      this.#left -= passed;
      at += passed;
      const head = data.subarray(at, at + headLength - this.#head.length);
      this.#head = [...this.#head, ...head];
      at += head.length;
      if (this.#head.length < headLength) break;
      const size = Buffer.from(this.#head).readUInt32BE(1);
      largest = Math.max(largest, size);
      this.#left = Math.max(size - sizeLength, 0);
      this.#head = [];
    }
    return largest;
  }
}

/** A letter, and the size, which includes itself but not the letter. */
const headLength = 5;
const sizeLength = 4;
