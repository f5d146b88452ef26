import type { IncomingMessage } from 'node:http';
import { GatheredPieces } from '../../source/gathered-pieces.ts';
import { BodyRefused, type RefusedBecause } from './body-refused.ts';

/** A body that is still arriving. */
export class ArrivingBody {
  readonly whole: Promise<Buffer>;
  readonly network: string;
  received = 0;
  /** Bytes of memory held. */
  held = 0;
  /** Ticks since it began. */
  ticks = 0;
  readonly #payload: IncomingMessage;
  readonly #options: BodyOptions;
  #pieces = new GatheredPieces();
  #settle: { resolve: (body: Buffer) => void; reject: (refused: BodyRefused) => void } | undefined;

  constructor(payload: IncomingMessage, options: BodyOptions) {
    this.network = options.network;
    this.#payload = payload;
    this.#options = options;
    this.whole = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    payload.on('data', this.#take);
    payload.once('end', () => {
      this.#settle?.resolve(Buffer.concat(this.#pieces.parts(), this.received));
      this.#forget();
    });
    payload.once('close', () => {
      this.refuse('broken off');
    });
    payload.on('error', () => {
      this.refuse('broken off');
    });
  }

  pause(): void {
    this.#payload.pause();
  }

  resume(): void {
    this.#payload.resume();
  }

  refuse(because: RefusedBecause): void {
    this.#settle?.reject(new BodyRefused(because));
    this.#forget();
  }

  readonly #take = (chunk: Buffer): void => {
    if (this.received + chunk.length > this.#options.most) {
      this.refuse('too large');
      return;
    }
    const before = this.held;
    this.#pieces.add(chunk);
    this.received = this.#pieces.bytes;
    this.held = this.#pieces.held;
    this.#options.onReceived(this, { bytes: chunk.length, held: this.held - before });
  };

  /** Discards the rest of the body until the connection is closed. */
  #forget(): void {
    this.#payload.off('data', this.#take);
    this.#payload.resume();
    this.#settle = undefined;
    this.#pieces = new GatheredPieces();
  }
}

interface BodyOptions {
  /** The network of the sender: see `networkOf`. */
  readonly network: string;
  readonly most: number;
  readonly onReceived: (body: ArrivingBody, received: { bytes: number; held: number }) => void;
}
