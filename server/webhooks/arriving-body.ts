import type { IncomingMessage } from 'node:http';
import { BodyRefused, type RefusedBecause } from './body-refused.ts';

/** A body while it arrives. */
export class ArrivingBody {
  readonly whole: Promise<Buffer>;
  readonly network: string;
  received = 0;
  /** Bytes of memory. */
  held = 0;
  /** Since it began. */
  ticks = 0;
  readonly #payload: IncomingMessage;
  readonly #options: BodyOptions;
  /** The last one is not full yet, when `#room` is more than 0. */
  #parts: Buffer[] = [];
  #room = 0;
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
      this.#settle?.resolve(Buffer.concat(this.#parts, this.received));
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
    if (chunk.length < smallBytes) this.#gather(chunk);
    else this.#keep(chunk);
    this.received += chunk.length;
    this.#options.onReceived(this, { bytes: chunk.length, held: this.held - before });
  };

  /** What comes byte by byte would cost a hundred times its size if each were kept. */
  #gather(chunk: Buffer): void {
    if (chunk.length > this.#room) this.#keep(Buffer.allocUnsafeSlow(partBytes), partBytes);
    const part = this.#parts.at(-1);
    if (part === undefined) return;
    chunk.copy(part, part.length - this.#room);
    this.#room -= chunk.length;
  }

  #keep(part: Buffer, room = 0): void {
    const last = this.#parts.pop();
    if (last !== undefined) this.#parts.push(last.subarray(0, last.length - this.#room));
    this.#parts.push(part);
    this.#room = room;
    this.held += part.length;
  }

  /** What still comes is thrown away, until the connection is closed. */
  #forget(): void {
    this.#payload.off('data', this.#take);
    this.#payload.resume();
    this.#settle = undefined;
    this.#parts = [];
    this.#room = 0;
  }
}

const smallBytes = 4 * 1024;
const partBytes = 16 * 1024;

interface BodyOptions {
  /** Whom it comes from: see `networkOf`. */
  readonly network: string;
  readonly most: number;
  readonly onReceived: (body: ArrivingBody, received: { bytes: number; held: number }) => void;
}
