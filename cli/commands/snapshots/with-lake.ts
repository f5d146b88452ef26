import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lake } from '../../../lake/lake.ts';
import { openLake } from '../../../lake/open-lake.ts';
import { readConfig } from '../../settings.ts';

/** Runs a command's work on the lake. It needs neither Postgres nor Temporal. */
export async function withLake<Result>(
  work: (lake: Lake, scratch: string) => Promise<Result>,
): Promise<Result> {
  const scratch = await mkdtemp(join(tmpdir(), 'daybook-lake-'));
  const lake = await openLake({ location: readConfig().lake.location, scratch });
  try {
    return await work(lake, scratch);
  } finally {
    await lake.close();
    await rm(scratch, { recursive: true, force: true });
  }
}
