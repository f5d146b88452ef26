import { mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../errors/code-of.ts';
import { requireOwnHome } from './require-own-home.ts';

/** The layout of `DAYBOOK_HOME`, which holds everything embedded. All paths are absolute and free of symbolic links. */
export interface Home {
  readonly root: string;
  readonly postgresData: string;
  readonly temporalDatabase: string;
  readonly sandboxJournal: string;
  readonly lake: string;
  readonly logs: string;
  readonly locks: string;
  readonly portsFile: string;
  readonly runtimeFile: string;
  readonly secretKeyFile: string;
}

/** Nothing can be stored in the home. */
export class HomeUnusable extends Error {
  override readonly name = 'HomeUnusable';
  readonly isUsage = true;

  constructor(path: string, code: string) {
    super(
      `${path} cannot be the home of Daybook (${code}): set DAYBOOK_HOME to a folder that this user may write in.`,
    );
  }
}

/** Creates missing folders (readable only by their owner) and returns the layout. Throws ForeignHome, HomeUnusable. */
export async function openHome(path: string): Promise<Home> {
  try {
    await makeFolder(path);
    // Orphans are recognized by the paths on their command line, so a folder must have only one spelling.
    const home = layout(await realpath(path));
    await requireOwnHome(home.root, home.postgresData);
    const folders = [join(home.root, 'temporal'), join(home.root, 'sandbox'), home.logs, home.locks];
    await Promise.all(folders.map(makeFolder));
    return home;
  } catch (error) {
    const code = String(codeOf(error));
    throw placeIsWrong.includes(code) ? new HomeUnusable(path, code) : error;
  }
}

const placeIsWrong = [
  'EACCES',
  'EPERM',
  'EROFS',
  'EEXIST',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOTDIR',
];

/** Creates a folder and its parents. Node's `recursive` loops forever if the system says ENOENT below an existing folder, as below /proc. */
async function makeFolder(path: string): Promise<void> {
  if (await isMissing(dirname(path))) await makeFolder(dirname(path));
  await mkdir(path, { mode: 0o700 }).catch(async (error: unknown) => {
    if (!(await isFolder(path))) throw error;
  });
}

function isMissing(path: string): Promise<boolean> {
  return stat(path).then(
    () => false,
    (error: unknown) => codeOf(error) === 'ENOENT',
  );
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

function layout(root: string): Home {
  return {
    root,
    postgresData: join(root, 'postgres'),
    temporalDatabase: join(root, 'temporal', 'temporal.db'),
    sandboxJournal: join(root, 'sandbox', 'journal.jsonl'),
    lake: join(root, 'lake'),
    logs: join(root, 'logs'),
    locks: join(root, 'locks'),
    portsFile: join(root, 'ports.json'),
    runtimeFile: join(root, 'runtime.json'),
    secretKeyFile: join(root, 'secret.key'),
  };
}
