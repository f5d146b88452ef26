import type { Readable } from 'node:stream';

export interface SlowestBody {
  readonly bytes: number;
  readonly milliseconds: number;
}

/**
 * Yields the pieces of a body as they come. The first may come as late as the other limits allow; from then on, a body that brings fewer than
 * `bytes` in any `milliseconds` rejects with BodyTooSlow, and its connection is closed.
 */
export async function* endWhenSlow(
  body: Readable & AsyncIterable<Buffer>,
  { bytes: fewest, milliseconds }: SlowestBody,
): AsyncGenerator<Buffer, void, void> {
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  try {
    for await (const piece of body) {
      bytes += piece.length;
      timer ??= setInterval(() => {
        if (bytes < fewest) body.destroy(new BodyTooSlow(fewest, milliseconds));
        bytes = 0;
      }, milliseconds);
      yield piece;
    }
  } finally {
    clearInterval(timer);
  }
}

class BodyTooSlow extends Error {
  override readonly name = 'BodyTooSlow';
  readonly code = 'BODY_TOO_SLOW';

  constructor(bytes: number, milliseconds: number) {
    super(`A body brought fewer than ${bytes} bytes in ${milliseconds} ms.`);
  }
}
