import { isUtf8 } from 'node:buffer';
import type { AnswerLimits } from './answer-limits.ts';
import { createValueCounter, mostValuesIn } from '../resources/count-values.ts';
import { AnswerTooLarge, UnreadableResponse, type Failure } from './errors.ts';
import { GatheredPieces } from './gathered-pieces.ts';

/** The raw bytes of a body, before any processing that takes a multiple of their memory. */
export interface Body {
  readonly bytes: Buffer;
  /** Whether its parsed content may take tens of megabytes. */
  readonly isLarge: boolean;
}

/** Reads the whole body. Throws AnswerTooLarge as soon as it has more bytes or values than allowed. */
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

/** Returns the text of a body. Throws UnreadableResponse if it is not UTF-8. */
export function decodeBody(body: Body, failure: Failure): string {
  return decoded(charactersOf(body, failure));
}

/**
 * Returns the body with one character for each byte, for finding brackets, quotes and names: this takes a tenth of the time of decoding, and half
 * of the memory. Parts that are cut out must be `decoded`. Throws UnreadableResponse if the body is not UTF-8: a replacement character for a
 * broken one would silently change somebody's books.
 */
export function charactersOf({ bytes }: Body, failure: Failure): string {
  if (!isUtf8(bytes)) throw new UnreadableResponse(failure, 'a body that is not UTF-8');
  const characters = bytes.toString('latin1');
  return characters.startsWith(byteOrderMark) ? characters.slice(byteOrderMark.length) : characters;
}

const byteOrderMark = '\u00ef\u00bb\u00bf';

/** Decodes a part of `charactersOf`, cut at ASCII characters. */
export function decoded(characters: string): string {
  return beyondAscii.test(characters) ? Buffer.from(characters, 'latin1').toString('utf8') : characters;
}

const beyondAscii = /[\u0080-\u00ff]/;

/** Counts received values, one by one only if commas and brackets alone do not show that there are few enough. */
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

/** Reads an error's body, up to 64 kB: the status says enough, so a broken or an endless body is no failure. */
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
