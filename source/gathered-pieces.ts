/**
 * A body as it arrives, copied into blocks. Each piece is a Buffer, which takes several hundred bytes beside its content, too many if a body comes
 * byte by byte, and may be a view of everything that the socket read, including a chunk extension of 60 kB.
 */
export class GatheredPieces {
  bytes = 0;
  readonly #full: Buffer[] = [];
  #block: Buffer = noBlock;
  /** Bytes used in the block. */
  #filled = 0;

  /** Bytes of memory. */
  get held(): number {
    return this.#full.length * blockBytes + this.#block.length;
  }

  add(piece: Buffer): void {
    this.bytes += piece.length;
    for (let copied = 0; copied < piece.length;) {
      if (this.#filled === this.#block.length) this.#beginBlock();
      const bytes = piece.copy(this.#block, this.#filled, copied);
      this.#filled += bytes;
      copied += bytes;
    }
  }

  /** Returns the whole body, in order. */
  parts(): readonly Buffer[] {
    return [...this.#full, this.#block.subarray(0, this.#filled)];
  }

  #beginBlock(): void {
    if (this.#filled > 0) this.#full.push(this.#block);
    this.#block = Buffer.allocUnsafeSlow(blockBytes);
    this.#filled = 0;
  }
}

const blockBytes = 16 * 1024;
const noBlock = Buffer.alloc(0);
