import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes a file until there is no room left on the disk of that folder; removing it makes room again. */
export async function fillDisk(folder: string): Promise<string> {
  const path = join(folder, 'ballast');
  const file = await open(path, 'w');
  try {
    // Smaller and smaller pieces, so that not a page is left.
    for (const bytes of [1 << 20, 1 << 12]) {
      while (await fits(() => file.write(Buffer.alloc(bytes)), bytes));
    }
  } finally {
    await file.close();
  }
  return path;
}

async function fits(write: () => Promise<{ bytesWritten: number }>, bytes: number): Promise<boolean> {
  try {
    return (await write()).bytesWritten === bytes;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}
