import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes a file until the disk of the folder is full. Returns its path; removing it frees the space. */
export async function fillDisk(folder: string): Promise<string> {
  const path = join(folder, 'filler');
  const file = await open(path, 'w');
  try {
    // Pieces of decreasing size leave no page free.
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
