import { rm } from 'node:fs/promises';
import { openHome } from '../../../embedded/home.ts';
import type { Lake } from '../../../lake/lake.ts';
import { openLake } from '../../../lake/open-lake.ts';
import { scratchOfCommand } from '../../../lake/files/scratch-of-command.ts';
import { readConfig } from '../../settings.ts';

/** Runs a command's work on the lake, without Postgres or Temporal. */
export async function withLake<Result>(
  work: (lake: Lake, scratch: string) => Promise<Result>,
): Promise<Result> {
  const config = readConfig();
  const home = await openHome(config.home);
  const scratch = await scratchOfCommand(home.root);
  const lake = await openLake({ location: config.lake.location, scratch });
  try {
    return await work(lake, scratch);
  } finally {
    await lake.close();
    await rm(scratch, { recursive: true, force: true });
  }
}
