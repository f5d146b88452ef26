import { chown, readFile } from 'node:fs/promises';

/**
 * Returns how to run Postgres programs. Postgres refuses to run as root, so for root they run as the owner of the data folder, without
 * any of root's rights. The owner is the system user `postgres`, or else `nobody`; no user is created.
 */
export async function postgresAccount(): Promise<PostgresAccount> {
  if (process.getuid?.() !== 0) {
    return {
      wrap: (command) => command,
      own: () => Promise.resolve(),
      nameOf: (path) => path,
      isOther: false,
    };
  }
  if (process.platform !== 'linux') {
    throw new Error(
      'Postgres refuses to run as root; start Daybook as an ordinary user, or set DATABASE_URL.',
    );
  }
  const { uid, gid } = await unprivilegedUser();
  return {
    wrap: ([program, ...args]) => ['setpriv', ...setprivArguments(uid, gid), '--', program, ...args],
    own: (path) => chown(path, uid, gid),
    nameOf: () => workingFolder,
    isOther: true,
  };
}

export interface PostgresAccount {
  /** Wraps a command so that it runs as this account; the process id remains that of the program itself. */
  readonly wrap: (command: readonly [string, ...string[]]) => readonly [string, ...string[]];
  /** Gives a file or folder to this account. */
  readonly own: (path: string) => Promise<void>;
  /** The name by which a program that is started in a folder refers to that folder. */
  readonly nameOf: (folder: string) => string;
  /** True if the account differs from the user that runs Daybook. */
  readonly isOther: boolean;
}

/**
 * The home may be below folders that are closed to others (`/root`, anything made by mktemp). This name reaches the working folder
 * without checking its parents, so the account needs access only to its own data.
 */
export const workingFolder = '/proc/self/cwd';

function setprivArguments(uid: number, gid: number): string[] {
  return [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=-all',
    '--ambient-caps=-all',
    '--bounding-set=-all',
    '--no-new-privs',
  ];
}

async function unprivilegedUser(): Promise<{ uid: number; gid: number }> {
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (user === undefined) {
    throw new Error(
      'Postgres refuses to run as root and there is neither a user postgres nor nobody to run it as; ' +
        'start Daybook as an ordinary user, or set DATABASE_URL.',
    );
  }
  return { uid: Number(user[2]), gid: Number(user[3]) };
}
