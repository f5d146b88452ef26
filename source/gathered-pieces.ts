/**
 * A body while it comes. Each piece is a Buffer with memory of its own, several hundred bytes beside its content: what comes byte by byte
 * would cost a hundred times its size if each were kept, so small ones are copied together.
 */
export class GatheredPieces {
  bytes = 0;
  /** Bytes of memory. */
  held = 0;
  readonly #whole: Buffer[] = [];
  /** Where small pieces are copied to; `#filled` bytes of it are theirs. */
  #block: Buffer | undefined;
  #filled = 0;

  add(piece: Buffer): void {
    this.bytes += piece.length;
    if (piece.length >= smallBytes) {
      this.#endBlock();
      this.#whole.push(piece);
      this.held += piece.length;
      return;
    }
    if (this.#filled + piece.length > blockBytes) this.#endBlock();
    if (this.#block === undefined) {
      this.#block = Buffer.allocUnsafeSlow(blockBytes);
      this.held += blockBytes;
    }
    piece.copy(this.#block, this.#filled);
    this.#filled += piece.length;
  }

  /** All of it, in order. */
  parts(): readonly Buffer[] {
    this.#endBlock();
    return this.#whole;
  }

  #endBlock(): void {
    if (this.#block !== undefined) this.#whole.push(this.#block.subarray(0, this.#filled));
    this.#block = undefined;
    this.#filled = 0;
  }
}

const smallBytes = 4 * 1024;
const blockBytes = 16 * 1024;
