import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openHome } from '../../embedded/home.ts';
import { giveOwnPorts } from '../support/own-ports.ts';

/** A new empty folder that is removed when the test is over. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'daybook-embedded-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A home for servers, which return to the same ports. */
export async function temporaryHome(): Promise<string> {
  const folder = await temporaryFolder();
  await giveOwnPorts(await openHome(folder));
  return folder;
}
