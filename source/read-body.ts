import type { AnswerLimits } from './answer-limits.ts';
import { createValueCounter, mostValuesIn } from '../resources/count-values.ts';
import { AnswerTooLarge, UnreadableResponse, type Failure } from './errors.ts';
import { GatheredPieces } from './gathered-pieces.ts';

/**
 * The whole body as text. Throws AnswerTooLarge as soon as it has more bytes or values than allowed, and UnreadableResponse when it is
 * not UTF-8.
 */
export async function readBody(
  body: AsyncIterable<Buffer>,
  limits: AnswerLimits,
  failure: Failure,
): Promise<string> {
  const pieces = new GatheredPieces();
  const isTooMuch = createValueLimit(limits.values, () => pieces.parts());
  // The shortest value of JSON is a digit and its comma: so few bytes hold no more values than allowed, and need not be counted.
  const uncounted = 2 * limits.values;
  for await (const chunk of body) {
    if (pieces.bytes + chunk.length > limits.bytes)
      throw new AnswerTooLarge(failure, `a body of more than ${inWords(limits.bytes)} bytes`);
    const isCounted = pieces.bytes > uncounted;
    pieces.add(chunk);
    if (pieces.bytes <= uncounted) continue;
    if (isTooMuch(isCounted ? [chunk] : pieces.parts()))
      throw new AnswerTooLarge(failure, `more than ${inWords(limits.values)} values in one body`);
  }
  try {
    return strictUtf8.decode(Buffer.concat(pieces.parts(), pieces.bytes));
  } catch {
    throw new UnreadableResponse(failure, 'a body that is not UTF-8');
  }
}

/** Whether what has come has more values than allowed. They are only counted where commas and brackets do not show that it has not. */
function createValueLimit(
  values: number,
  all: () => readonly Buffer[],
): (more: readonly Buffer[]) => boolean {
  const valuesIn = createValueCounter();
  const counted = (parts: readonly Buffer[]): number => parts.reduce((_, part) => valuesIn(part), 0);
  let most = 1;
  return (more) => {
    if (most > values) return counted(more) > values;
    most = more.reduce((sum, part) => sum + mostValuesIn(part), most);
    return most > values && counted(all()) > values;
  };
}

function inWords(count: number): string {
  return count.toLocaleString('en-US');
}

/** What there is of an error's body, up to 64 kB: the status says enough, so a broken or an endless one is no failure. */
export async function readBodyStart(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces = new GatheredPieces();
  try {
    for await (const chunk of body) {
      pieces.add(chunk);
      if (pieces.bytes >= 64 * 1024) break;
    }
  } catch {
    // The connection broke, or the time was up.
  }
  return Buffer.concat(pieces.parts(), pieces.bytes).toString('utf8');
}

/** A replacement character in the place of a broken one would be a silent change of somebody's books. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });
