import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lake } from '../../../lake/lake.ts';
import { openLake } from '../../../lake/open-lake.ts';
import { temporaryFolder } from '../../../lake/temporary-folder.ts';
import { readConfig } from '../../settings.ts';

/** Runs a command's work on the lake. It needs neither Postgres nor Temporal. */
export async function withLake<Result>(
  work: (lake: Lake, scratch: string) => Promise<Result>,
): Promise<Result> {
  const config = readConfig();
  // In the home, where an erasure finds what a killed command has left.
  const temporary = temporaryFolder(config.home);
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  const scratch = await mkdtemp(join(temporary, 'lake-'));
  const lake = await openLake({ location: config.lake.location, scratch });
  try {
    return await work(lake, scratch);
  } finally {
    await lake.close();
    await rm(scratch, { recursive: true, force: true });
  }
}
