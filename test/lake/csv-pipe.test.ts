import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { NamedPipes, throughPipe } from '../../lake/parquet/csv-pipe.ts';

const folder = await mkdtemp(join(tmpdir(), 'daybook-test-pipe-'));
const pipes = new NamedPipes(folder, 'test');
afterAll(() => rm(folder, { recursive: true }));

test('a stream is read as if it were a file', async () => {
  const text = await throughPipe(
    pipes,
    () => Readable.from(['1,one\n', '2,two\n']),
    (pipe) => readFile(pipe, 'utf8'),
  );
  expect(text).toBe('1,one\n2,two\n');
});

test('a stream that breaks off midway is an error, not an end of file', async () => {
  const reading = throughPipe(pipes, breaksOff, (pipe) => readFile(pipe, 'utf8'));
  await expect(reading).rejects.toThrow('broken off');
});

test('a stream that breaks off before anybody reads is an error, and its reader ends', async () => {
  let hasEnded = false;
  const reading = throughPipe(
    pipes,
    () => new Readable().destroy(new Error('broken off')),
    async (pipe) => {
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
    pipes,
    () => stream,
    () => Promise.reject(new Error('no room')),
  );
  await expect(reading).rejects.toThrow('no room');
  expect(stream.readableEnded).toBe(true);
});

test('every stream has a pipe of its own, which is gone afterward', async () => {
  const used = new Set<string>();
  for (let stream = 0; stream < 40; stream += 1)
    await throughPipe(
      pipes,
      () => Readable.from([String(stream)]),
      async (pipe) => {
        used.add(pipe);
        expect(await readFile(pipe, 'utf8')).toBe(String(stream));
      },
    );
  expect(used.size).toBe(40);
  const left = await readdir(folder);
  expect(left.filter((name) => used.has(join(folder, name)))).toEqual([]);
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
