import type { AnswerLimits } from './answer-limits.ts';
import { createValueCounter } from '../resources/count-values.ts';
import { AnswerTooLarge, UnreadableResponse, type Failure } from './errors.ts';

/**
 * The whole body as text. Throws AnswerTooLarge as soon as it has more bytes or values than allowed, and UnreadableResponse when it is
 * not UTF-8.
 */
export async function readBody(
  body: AsyncIterable<Buffer>,
  limits: AnswerLimits,
  failure: Failure,
): Promise<string> {
  const valuesIn = createValueCounter();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > limits.bytes)
      throw new AnswerTooLarge(failure, `a body of more than ${inWords(limits.bytes)} bytes`);
    chunks.push(chunk);
    if (bytes <= uncounted) continue;
    const more = bytes - chunk.length > uncounted ? [chunk] : chunks;
    if (more.reduce((_, one) => valuesIn(one), 0) > limits.values)
      throw new AnswerTooLarge(failure, `more than ${inWords(limits.values)} values in one body`);
  }
  try {
    return strictUtf8.decode(Buffer.concat(chunks, bytes));
  } catch {
    throw new UnreadableResponse(failure, 'a body that is not UTF-8');
  }
}

/** Whatever so few bytes are made of fits. To count the bytes of an ordinary page takes six times as long as to parse it. */
const uncounted = 4 * 1024 * 1024;

function inWords(count: number): string {
  return count.toLocaleString('en-US');
}

/** What there is of an error's body, up to 64 kB: the status says enough, so a broken or an endless one is no failure. */
export async function readBodyStart(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= 64 * 1024) break;
    }
  } catch {
    // The connection broke, or the time was up.
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
}

/** A replacement character in the place of a broken one would be a silent change of somebody's books. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });
