import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { requireOwnHome } from './require-own-home.ts';

/** Where everything embedded lives: the layout of `DAYBOOK_HOME`. All paths are absolute and free of symbolic links. */
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

/** Makes the folders that are missing (readable by their owner alone) and returns the layout. Throws ForeignHome. */
export async function openHome(path: string): Promise<Home> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  // Orphans are recognised by the paths on their command line, so one folder must have one spelling.
  const home = layout(await realpath(path));
  await requireOwnHome(home.root, home.postgresData);
  await Promise.all(
    [join(home.root, 'temporal'), join(home.root, 'sandbox'), home.logs, home.locks].map((folder) =>
      mkdir(folder, { recursive: true, mode: 0o700 }),
    ),
  );
  return home;
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
