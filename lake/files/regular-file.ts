import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { codeOf } from '../../errors/code-of.ts';

/** At the path of a file there is nothing, or something that Daybook does not read: a link, a folder, a pipe, a device. */
export class NoRegularFile extends Error {
  override readonly name = 'NoRegularFile';
  readonly isMissing: boolean;

  constructor(path: string, { isMissing }: { isMissing: boolean }) {
    super(`${path} is ${isMissing ? 'not there' : 'no file'}.`);
    this.isMissing = isMissing;
  }
}

/**
 * Opens a file of a lake, and passes on its handle and size. Anyone with write access to the folder can replace the file at any moment, so the
 * checks apply to the opened file: a link is not followed, and a pipe without a writer is not waited for. The folder may be reached by links.
 * Throws NoRegularFile.
 */
export async function withRegularFile<Result>(
  path: string,
  use: (file: FileHandle, bytes: number) => Promise<Result>,
): Promise<Result> {
  const file = await openForReading(path);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new NoRegularFile(path, { isMissing: false });
    return await use(file, found.size);
  } finally {
    await file.close();
  }
}

async function openForReading(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    const code = String(codeOf(error));
    if (['ENOENT', 'ELOOP', 'ENXIO'].includes(code))
      throw new NoRegularFile(path, { isMissing: code === 'ENOENT' });
    throw error;
  }
}

/**
 * Yields the contents of a file in pieces. The file may grow meanwhile, without end: at most `bytes` plus one are read; the one shows that
 * there are more. A piece is overwritten by the next one.
 */
export async function* readPieces(file: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  // A lake has thousands of small files, and for each of them a stream would take two to three times as long.
  const buffer = Buffer.allocUnsafe(Math.min(bytes + 1, bytesAtOnce));
  for (let left = bytes + 1; left > 0;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(left, buffer.length));
    if (bytesRead === 0) return;
    left -= bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

const bytesAtOnce = 262_144;

/** Copies a file to the new file `target`, at most `expected` bytes plus one; by default, its current size. Throws NoRegularFile. */
export function copyRegularFile(source: string, target: string, expected?: number): Promise<void> {
  return withRegularFile(source, async (from, bytes) => {
    const to = await open(target, 'wx');
    try {
      for await (const piece of readPieces(from, expected ?? bytes)) await to.writeFile(piece);
    } finally {
      await to.close();
    }
  });
}
