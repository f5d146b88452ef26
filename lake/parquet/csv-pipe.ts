import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeOf } from '../../errors/code-of.ts';

/** Named pipes in a folder, each for one stream. One process makes several: starting it takes longer than reading a small table. */
export class NamedPipes {
  readonly #folder: string;
  readonly #prefix: string;
  #count = 0;
  #ready: string[] = [];

  constructor(folder: string, prefix: string) {
    this.#folder = folder;
    this.#prefix = prefix;
  }

  /** Returns the path of a pipe that nobody has used. */
  async take(): Promise<string> {
    for (;;) {
      const pipe = this.#ready.shift();
      if (pipe !== undefined) return pipe;
      await this.#makeMore();
    }
  }

  async #makeMore(): Promise<void> {
    const from = this.#count;
    this.#count += pipesAtOnce;
    const paths = Array.from({ length: pipesAtOnce }, (_, index) =>
      join(this.#folder, `${this.#prefix}-${from + index}.csv`),
    );
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths]);
    this.#ready.push(...paths);
  }
}

const pipesAtOnce = 16;

/**
 * Lets `read` read a stream as if it were a file, through a named pipe: nothing is written to a disk. Throws the errors of the stream and of
 * `read`; a stream that breaks off never counts as ended.
 */
export async function throughPipe<Result>(
  pipes: NamedPipes,
  open: () => Readable,
  read: (pipe: string) => Promise<Result>,
): Promise<Result> {
  const pipe = await pipes.take();
  const stream = open();
  const over = new AbortController();
  const reading = read(pipe).finally(() => {
    over.abort();
  });
  const [fed, result] = await Promise.allSettled([feed(stream, { pipe, over: over.signal }), reading]);
  await rm(pipe, { force: true });
  // The reader of a pipe that breaks off fails too, and a writer whose reader is gone does not know why: the other side's error counts.
  if (fed.status === 'rejected' && !isBrokenPipe(fed.reason)) throw fed.reason;
  if (result.status === 'rejected') throw result.reason;
  if (fed.status === 'rejected') throw fed.reason;
  return result.value;
}

/**
 * Lets `read` read what `write` writes to a file, through a named pipe. Throws the errors of both; a stream that breaks off never counts as complete.
 */
export async function intoPipe<Result>(
  pipes: NamedPipes,
  write: (pipe: string) => Promise<unknown>,
  read: (stream: Readable) => Promise<Result>,
): Promise<Result> {
  const pipe = await pipes.take();
  // With both ends open here, nobody waits for the other side to open its own, and the stream ends only below.
  const [output, input] = [constants.O_RDONLY, constants.O_WRONLY].map((end) =>
    openSync(pipe, end | constants.O_NONBLOCK),
  ) as [number, number];
  const stream = new Socket({ fd: output, readable: true, writable: false });
  // Whoever reads it hears of an error, if anybody reads it yet.
  stream.on('error', () => undefined);
  let hasWritten = false;
  const writing = write(pipe)
    .catch((error: unknown) => {
      // Before the end is seen: half of the rows must not count as all of them.
      stream.destroy(error instanceof Error ? error : new Error('The writer of a pipe failed.'));
      throw error;
    })
    .finally(() => {
      hasWritten = true;
      closeSync(input);
    });
  const reading = read(stream).catch(async (error: unknown) => {
    // A writer that waits for room fails then. One that has not opened the pipe yet waits for a reader, and fails once that is gone.
    stream.destroy();
    while (!hasWritten) {
      closeSync(openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK));
      await wait(2);
    }
    throw error;
  });
  const [wrote, result] = await Promise.allSettled([writing, reading]);
  await rm(pipe, { force: true });
  // A writer whose reader is gone does not know why, nor does a reader that came too late for the writer's error.
  if (result.status === 'rejected' && !isBrokenPipe(result.reason)) throw result.reason;
  if (wrote.status === 'rejected') throw wrote.reason;
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

/**
 * Consumes the stream to its end even if the reader fails: its session, which is still needed, can do nothing else before.
 */
async function feed(stream: Readable, { pipe, over }: { pipe: string; over: AbortSignal }): Promise<void> {
  // Listens from the start: the stream may break off before anybody opens the pipe.
  const taken = Promise.allSettled([finished(stream, { writable: false })]);
  const fd = await openForWriting(pipe, over);
  if (fd === undefined) stream.resume();
  const writing = fd === undefined ? undefined : writeTo(fd, stream, taken);
  const [[read], [wrote]] = await Promise.all([taken, Promise.allSettled([writing])]);
  if (read.status === 'rejected') throw read.reason;
  if (wrote.status === 'rejected') throw wrote.reason;
}

async function writeTo(
  fd: number,
  stream: Readable,
  taken: Promise<[PromiseSettledResult<void>]>,
): Promise<void> {
  // A socket waits for room in the pipe without blocking a thread.
  const socket = new Socket({ fd, readable: false, writable: true });
  void taken.then(([{ status }]) => {
    if (status === 'rejected') socket.destroy();
  });
  stream.pipe(socket);
  try {
    await finished(socket, { readable: false });
  } finally {
    stream.unpipe(socket).resume();
  }
}

/** Undefined if the reader ended before it began. */
async function openForWriting(pipe: string, over: AbortSignal): Promise<number | undefined> {
  while (!over.aborted) {
    try {
      return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      // No reader has opened it yet. Opening it without O_NONBLOCK would block a thread, possibly forever.
      if (codeOf(error) !== 'ENXIO') throw error;
      await wait(2);
    }
  }
  return undefined;
}

function isBrokenPipe(error: unknown): boolean {
  return ['EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].some((code) => codeOf(error) === code);
}
