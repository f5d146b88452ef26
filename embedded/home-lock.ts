import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Home } from './home.ts';
import { replacePrivateFile } from './private-file.ts';
import { processIdentity } from './process-identity.ts';
import { readFileIfThere } from './read-file-if-there.ts';

/**
 * Makes this process the only one that may start servers on the home.
 * Throws `HomeInUseError` while the holder is alive; a holder that was killed leaves only a file to clean up.
 *
 * Each process first writes its claim and then looks for others, so of two that start at once, at least one sees the other and steps
 * back. No claim is ever taken over or replaced, which is where lock files usually go wrong.
 */
export async function lockHome(home: Home, now: Date): Promise<HomeLock> {
  const mine = `${process.pid}.claim`;
  const identity = (await processIdentity(process.pid)) ?? '';
  const claim: Claim = { pid: process.pid, identity, since: now.toISOString() };
  for (;;) {
    const holder = await findLiveClaim(home, () => true);
    if (holder !== undefined) throw new HomeInUseError(home, holder);
    await replacePrivateFile(join(home.locks, mine), JSON.stringify(claim));
    const rival = await findLiveClaim(home, (file) => file !== mine);
    if (rival === undefined) return { release: () => rm(join(home.locks, mine), { force: true }) };
    await rm(join(home.locks, mine), { force: true });
    await wait(Math.random() * 50); // The random delay keeps two processes that stepped back together from colliding again.
  }
}

export interface HomeLock {
  readonly release: () => Promise<void>;
}

export class HomeInUseError extends Error {
  override readonly name = 'HomeInUseError';
  readonly pid: number;
  /** The start time of the process that holds the home, in ISO format. */
  readonly since: string;

  constructor(home: Home, holder: { readonly pid: number; readonly since: string }) {
    super(
      `Daybook already runs on ${home.root} (process ${holder.pid}, since ${holder.since}); ` +
        'stop it first (Ctrl-C there), or set DAYBOOK_HOME to another folder.',
    );
    this.pid = holder.pid;
    this.since = holder.since;
  }
}

/** Returns the first claim of a live process, and removes claims of dead ones. */
async function findLiveClaim(home: Home, counts: (file: string) => boolean): Promise<Claim | undefined> {
  for (const file of (await readdir(home.locks)).filter((name) => name.endsWith('.claim') && counts(name))) {
    const text = await readFileIfThere(join(home.locks, file));
    if (text === undefined) continue;
    const claim = JSON.parse(text) as Claim;
    if ((await processIdentity(claim.pid)) === claim.identity) return claim;
    await rm(join(home.locks, file), { force: true });
  }
  return undefined;
}

interface Claim {
  readonly pid: number;
  /** See `processIdentity`. */
  readonly identity: string;
  readonly since: string;
}
