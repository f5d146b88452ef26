import { isUtf8 } from 'node:buffer';
import type { AnswerLimits } from './answer-limits.ts';
import { createValueCounter, mostValuesIn } from '../resources/count-values.ts';
import { AnswerTooLarge, UnreadableResponse, type Failure } from './errors.ts';
import { GatheredPieces } from './gathered-pieces.ts';

/** The bytes of a body, with which nothing was done yet that takes a multiple of their memory. */
export interface Body {
  readonly bytes: Buffer;
  /** Whether what is parsed of it may take tens of megabytes. */
  readonly isLarge: boolean;
}

/** The whole body. Throws AnswerTooLarge as soon as it has more bytes or values than allowed. */
export async function readBody(
  body: AsyncIterable<Buffer>,
  limits: AnswerLimits,
  failure: Failure,
): Promise<Body> {
  const pieces = new GatheredPieces();
  const values = createValueLimit(limits.values, () => pieces.parts());
  for await (const chunk of body) {
    if (pieces.bytes + chunk.length > limits.bytes)
      throw new AnswerTooLarge(failure, `a body of more than ${inWords(limits.bytes)} bytes`);
    pieces.add(chunk);
    if (values.exceeded(chunk))
      throw new AnswerTooLarge(failure, `more than ${inWords(limits.values)} values in one body`);
  }
  const bytes = Buffer.concat(pieces.parts(), pieces.bytes);
  return { bytes, isLarge: bytes.length > ordinary.bytes || values.atMost() > ordinary.values };
}

/** More than a page of 500 records has. */
const ordinary = { bytes: 4 * 1024 * 1024, values: 100_000 };

/** The text of a body. Throws UnreadableResponse when it is not UTF-8. */
export function textOf(body: Body, failure: Failure): string {
  return decoded(charactersOf(body, failure));
}

/**
 * The text of a body with a character for each byte, for what looks for brackets, quotes and names in it: a tenth of the time that it takes
 * to decode it, and half of its memory. What is cut out of it is `decoded`. Throws UnreadableResponse when the body is not UTF-8: a
 * replacement character in the place of a broken one would be a silent change of somebody's books.
 */
export function charactersOf({ bytes }: Body, failure: Failure): string {
  if (!isUtf8(bytes)) throw new UnreadableResponse(failure, 'a body that is not UTF-8');
  const characters = bytes.toString('latin1');
  return characters.startsWith(byteOrderMark) ? characters.slice(byteOrderMark.length) : characters;
}

const byteOrderMark = '\u00ef\u00bb\u00bf';

/** What a part of `charactersOf` says, cut at ASCII characters. */
export function decoded(characters: string): string {
  return beyondAscii.test(characters) ? Buffer.from(characters, 'latin1').toString('utf8') : characters;
}

const beyondAscii = /[\u0080-\u00ff]/;

/** How many values have come. They are counted one by one only where commas and brackets do not show that it is not too many. */
function createValueLimit(
  limit: number,
  all: () => readonly Buffer[],
): { exceeded(chunk: Buffer): boolean; atMost(): number } {
  const count = createValueCounter();
  const countAll = (parts: readonly Buffer[]): number => parts.reduce((_, part) => count(part), 0);
  let most = 1;
  return {
    exceeded(chunk) {
      if (most > limit) return count(chunk) > limit;
      most += mostValuesIn(chunk);
      return most > limit && countAll(all()) > limit;
    },
    atMost: () => most,
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
