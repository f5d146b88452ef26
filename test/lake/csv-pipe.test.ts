import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { StreamTooLong, throughPipe } from '../../lake/parquet/csv-pipe.ts';

const folder = await mkdtemp(join(tmpdir(), 'daybook-test-pipe-'));
afterAll(() => rm(folder, { recursive: true }));

test('a stream is read as if it were a file', async () => {
  const pipe = join(folder, 'whole');
  const text = await throughPipe(
    pipe,
    () => Readable.from(['1,one\n', '2,two\n']),
    () => readFile(pipe, 'utf8'),
  );
  expect(text).toBe('1,one\n2,two\n');
});

test('a stream that breaks off midway is an error, not an end of file', async () => {
  const pipe = join(folder, 'middle');
  const reading = throughPipe(pipe, breaksOff, () => readFile(pipe, 'utf8'));
  await expect(reading).rejects.toThrow('broken off');
});

test('a stream that breaks off before anybody reads is an error, and its reader ends', async () => {
  const pipe = join(folder, 'beginning');
  let hasEnded = false;
  const reading = throughPipe(
    pipe,
    () => new Readable().destroy(new Error('broken off')),
    async () => {
      await setImmediate();
      await readFile(pipe, 'utf8');
      hasEnded = true;
    },
  );
  await expect(reading).rejects.toThrow('broken off');
  expect(hasEnded).toBe(true);
});

test('a stream whose reader gives up is read to its end, and the reported error is the reader’s', async () => {
  const stream = Readable.from(['1,one\n']);
  const reading = throughPipe(
    join(folder, 'unread'),
    () => stream,
    () => Promise.reject(new Error('no room')),
  );
  await expect(reading).rejects.toThrow('no room');
  expect(stream.readableEnded).toBe(true);
});

test('a stream longer than its limit is an error, is read to its end, and its reader ends', async () => {
  const pipe = join(folder, 'too-long');
  const stream = Readable.from(['1,one\n', '2,two\n', '3,three\n']);
  let read = '';
  const reading = throughPipe(
    pipe,
    () => stream,
    async () => {
      read = await readFile(pipe, 'utf8');
    },
    10,
  );
  await expect(reading).rejects.toThrow(StreamTooLong);
  expect(stream.readableEnded).toBe(true);
  expect(read.length).toBeLessThanOrEqual(12);
});

function breaksOff(): Readable {
  return Readable.from(
    (async function* () {
      yield '1,one\n2,t';
      await setImmediate();
      throw new Error('broken off');
    })(),
  );
}
