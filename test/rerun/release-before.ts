import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll } from 'vitest';

const checkout = resolve(import.meta.dirname, '../..');

/** The tag of the release before this commit, or the reason why it cannot be run. */
export function releaseBefore(): { tag: string } | { missing: string } {
  // An archive has no history, and a shallow clone no tags.
  if (!existsSync(join(checkout, '.git'))) return { missing: 'this is no Git checkout' };
  const [tag] = git('tag', '--list', 'v*', '--merged', 'HEAD~1', '--sort', '-version:refname').split('\n');
  if (tag === undefined || tag === '') return { missing: 'the checkout has no tags' };
  const ours: unknown = JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8'));
  const theirs: unknown = JSON.parse(git('show', `${tag}:package-lock.json`));
  return isDeepStrictEqual(readPackages(ours), readPackages(theirs))
    ? { tag }
    : { missing: `${tag} needs other packages than are installed` };
}

/** Puts the sources of a release into a folder, with the packages of this checkout. Returns the path of its program. */
export async function unpackRelease(tag: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `daybook-${tag}-`));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const archive = execFileSync('git', ['archive', tag], { cwd: checkout, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['--extract', '--directory', folder], { input: archive });
  await symlink(join(checkout, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'bin', 'daybook.js');
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: checkout, encoding: 'utf8', maxBuffer: 2 ** 26 });
}

/** The packages without Daybook itself, whose version differs. */
function readPackages(lock: unknown): unknown {
  return { ...(lock as { packages: Record<string, unknown> }).packages, '': undefined };
}
