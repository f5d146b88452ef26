import type { Readable } from 'node:stream';
import { BodyRefused, type RefusedBecause } from './body-refused.ts';

/**
 * A body while it arrives. It is copied into one buffer: kept as they come, a body sent byte by byte would cost a hundred times its
 * size. The buffer grows with what has arrived, not with what was announced.
 */
export class ArrivingBody {
  readonly whole: Promise<Buffer>;
  received = 0;
  /** Since it began. */
  ticks = 0;
  readonly #payload: Readable;
  readonly #options: BodyOptions;
  #buffer: Buffer;
  #settle: { resolve: (body: Buffer) => void; reject: (refused: BodyRefused) => void } | undefined;

  constructor(payload: Readable, options: BodyOptions) {
    this.#payload = payload;
    this.#options = options;
    this.#buffer = Buffer.allocUnsafe(Math.min(options.declared, firstBytes));
    this.whole = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    payload.on('data', this.#take);
    payload.once('end', () => {
      this.#settle?.resolve(this.#buffer.subarray(0, this.received));
      this.#forget();
    });
    payload.once('close', () => {
      this.refuse('broken off');
    });
    payload.on('error', () => {
      this.refuse('broken off');
    });
  }

  /** Bytes of memory. */
  get held(): number {
    return this.#buffer.length;
  }

  refuse(because: RefusedBecause): void {
    this.#settle?.reject(new BodyRefused(because));
    this.#forget();
  }

  readonly #take = (chunk: Buffer): void => {
    const length = this.received + chunk.length;
    if (length > this.#options.most) {
      this.refuse('too large');
      return;
    }
    const grows = length > this.#buffer.length;
    if (grows) this.#grow(length);
    chunk.copy(this.#buffer, this.received);
    this.received = length;
    if (grows) this.#options.onGrown();
  };

  #grow(atLeast: number): void {
    const grown = Buffer.allocUnsafe(
      Math.min(this.#options.most, Math.max(atLeast, 2 * this.#buffer.length)),
    );
    this.#buffer.copy(grown, 0, 0, this.received);
    this.#buffer = grown;
  }

  /** What still comes is thrown away, until the connection is closed. */
  #forget(): void {
    this.#payload.off('data', this.#take);
    this.#settle = undefined;
    this.#buffer = Buffer.alloc(0);
  }
}

/** Most webhooks are smaller. */
const firstBytes = 16 * 1024;

interface BodyOptions {
  readonly declared: number;
  readonly most: number;
  /** It holds more than before. */
  readonly onGrown: () => void;
}
