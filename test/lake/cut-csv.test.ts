import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { cutCsv } from '../../lake/parquet/cut-csv.ts';

const first = ['1,a,\n', '1,"12,x\n13,""y\n"" é",\n', '1,,""\n'];
const third = ['3,"""",\n'];
const twelfth = ['12,"\n12,",b\n', '12,😀,\n'];
const all = Buffer.from([...first, ...third, ...twelfth].join(''));

test('rows are cut where their first column has another number, however they come', async () => {
  for (let bytes = 1; bytes <= all.length; bytes += 1) {
    const csv = cutCsv(inChunks(all, bytes));
    expect(await text(csv.rowsOf(1)), `${bytes} bytes at a time`).toBe(first.join(''));
    expect(await text(csv.rowsOf(2))).toBe('');
    expect(await text(csv.rowsOf(3))).toBe(third.join(''));
    expect(await text(csv.rowsOf(12))).toBe(twelfth.join(''));
    expect(await text(csv.rowsOf(13))).toBe('');
  }
});

test('what nobody reads is taken from the stream all the same, and no rows are none', async () => {
  const source = inChunks(all, 7);
  const csv = cutCsv(source);
  expect(await text(csv.rowsOf(1))).toBe(first.join(''));
  await csv.drain();
  expect(source.readableEnded).toBe(true);

  const none = cutCsv(Readable.from([]));
  expect(await text(none.rowsOf(1))).toBe('');
  await none.drain();
});

test('a stream that breaks off is not taken for one that has ended, also before anybody reads', async () => {
  const early = new Readable({ read: () => undefined });
  const csv = cutCsv(early);
  early.destroy(new Error('lost'));
  await new Promise((resolve) => setImmediate(resolve));
  await expect(text(csv.rowsOf(1))).rejects.toThrow('lost');
  await csv.drain();

  const late = cutCsv(Readable.from(breaking()));
  await expect(text(late.rowsOf(1))).rejects.toThrow('lost');
  await late.drain();
});

function inChunks(bytes: Buffer, size: number): Readable {
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
  return Readable.from(chunks);
}

function* breaking(): Generator<Buffer> {
  yield Buffer.from('1,a\n1,b');
  throw new Error('lost');
}
