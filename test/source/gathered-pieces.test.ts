import { expect, test } from 'vitest';
import { GatheredPieces } from '../../source/gathered-pieces.ts';

test.each([
  ['4 kB of all that a socket read', Array.from({ length: 200 }, (_, at) => viewOf(64 * 1024, 4_096, at))],
  ['a byte and 4 kB in turn', Array.from({ length: 400 }, (_, at) => viewOf(4_096, at % 2 ? 4_096 : 1, at))],
  ['bytes', Array.from({ length: 40_000 }, (_, at) => viewOf(1, 1, at))],
  ['64 kB', Array.from({ length: 20 }, (_, at) => viewOf(64 * 1024, 64 * 1024, at))],
  ['nothing', []],
])('a body in pieces of %s takes little more memory than its size, and reports how much', (_, pieces) => {
  const gathered = new GatheredPieces();
  for (const piece of pieces) gathered.add(piece);
  const parts = gathered.parts();
  const buffers = new Set(parts.filter(({ length }) => length > 0).map(({ buffer }) => buffer));
  const held = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);
  const whole = Buffer.concat(pieces);
  expect(held).toBeLessThan(whole.length + 16 * 1024);
  expect(gathered).toMatchObject({ bytes: whole.length, held });
  expect(Buffer.concat(parts).equals(whole)).toBe(true);
});

/** A piece as undici returns it from a read. */
function viewOf(read: number, length: number, content: number): Buffer {
  return Buffer.from(new ArrayBuffer(read), read - length, length).fill(content % 251);
}
