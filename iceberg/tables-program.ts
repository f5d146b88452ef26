import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { LakeRefused } from '../lake/errors.ts';
import { libpqAddress } from '../python/libpq-address.ts';
import { pythonWith, type PythonPlaces } from '../python/python-environment.ts';
import { trustedAuthorities } from '../python/trusted-authorities.ts';
import { withoutSecrets } from '../scripts/without-secrets.mjs';
import { requireAuthVariable } from '../warehouse/session/require-auth.ts';
import { IcebergFailed } from './errors.ts';

/** The folders of the program, and the catalog to which it writes. */
export interface ProgramPlaces {
  readonly databaseUrl: string;
  /** The folder of the Python environment. */
  readonly cacheFolder: string;
  /** A folder on this machine. */
  readonly scratch: string;
  readonly onStep?: ((text: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The command to rerun if Python was missing. */
  readonly again?: string;
  /** How long it may stay silent, in milliseconds. */
  readonly mostSilentMs?: number;
}

export interface TablesJob {
  readonly lake: string;
  readonly namespace: Namespace | 'marts_spark';
  /** Whether it adds nothing, and only drops tables that the program writing to the namespace should not trust. */
  readonly check: boolean;
  readonly kept: readonly string[];
  /** The snapshot that must be shown; any other that cannot be shown is left out. */
  readonly newest?: string | undefined;
  /** Whether unreferenced files are searched for everywhere, and not only where something was removed. */
  readonly sweep: boolean;
  /** Whether a table of an earlier version that lists removed files is recreated: it still shows their first and last dates. */
  readonly erases: boolean;
  /** The files of kept snapshots: a table that names other files for one is recreated. Absent: the tables are trusted. */
  readonly manifests?: Readonly<Record<string, FilesListed>> | undefined;
}

/** The SHA-256 of the files of a snapshot that have rows, by table. */
export type FilesListed = Readonly<Record<string, readonly string[]>>;

/** The namespace of the snapshots' tables, and that of the marts. */
export type Namespace = 'finance' | 'marts';

/** A snapshot that the tables should show. */
export interface SnapshotToAdd {
  readonly snapshot_id: string;
  readonly taken_at: string;
  /** Files by table: they lie at `dataPath`. */
  readonly tables: Readonly<Record<string, readonly { sha256: string; rows: number }[]>>;
}

export type TablesShown = z.infer<typeof doneSchema>['done'];

/** Returns the path of a table's file, relative to the lake. */
export function dataPath(namespace: Namespace, table: string, sha256: string): string {
  return `iceberg/${namespace}/${table}/data/${sha256}.parquet`;
}

/**
 * Runs `publish_tables.py`. `answer` receives the snapshots that the tables lack, and returns those to add. Throws IcebergFailed, LakeRefused,
 * PythonMissing, PythonPackagesMissing, and the errors of `answer`.
 */
export async function runTablesProgram(
  places: ProgramPlaces,
  job: TablesJob,
  {
    answer,
    onCommitted = () => undefined,
  }: {
    answer: (missing: readonly string[]) => Promise<readonly SnapshotToAdd[]>;
    onCommitted?: ((table: string) => void) | undefined;
  },
): Promise<TablesShown> {
  const { scratch, signal, onStep = () => undefined, mostSilentMs = 20 * 60_000 } = places;
  const python = await pythonWithIceberg({ ...places, onStep, signal });
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  const authoritiesFile = join(scratch, 'authorities.pem');
  await writeFile(authoritiesFile, await trustedAuthorities());
  const child = spawn(python, [join(folder, 'publish_tables.py')], {
    cwd: scratch,
    // It ends when its standard input closes: with this process, however that ends.
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...buildEnvironment(process.env), ...loginEnvironment(places.databaseUrl, authoritiesFile) },
    signal,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  ended.catch(() => undefined);
  // It may end before it has read its input; its exit is handled below.
  child.stdin.on('error', () => undefined);
  const problems: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => problems.push(line));
  const tell = (what: unknown): void => {
    child.stdin.write(`${JSON.stringify(what)}\n`);
  };
  tell(job);
  let shown: TablesShown | undefined;
  const silence = watchSilence(mostSilentMs, () => child.kill('SIGKILL'));
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const said = saidSchema.parse(JSON.parse(line));
      silence.end();
      if ('missing' in said) tell({ add: await answer(said.missing) });
      else if ('refused' in said) throw new LakeRefused(job.lake, said.refused);
      else if ('committed' in said) onCommitted(said.committed);
      else if ('remade' in said)
        onStep(`The Iceberg table ${said.remade} ${inWords(said.why)}, and is made again`);
      else if ('done' in said) shown = said.done;
      silence.begin();
    }
    const code = await ended;
    if (silence.isTooLong()) throw new IcebergFailed(`its program said nothing for ${mostSilentMs / 1000} s`);
    if (shown === undefined || code !== 0) throw new IcebergFailed(readErrorType(problems, code));
    return shown;
  } finally {
    silence.end();
    child.kill('SIGKILL');
  }
}

/** Kills it if Postgres or a disk does not answer, because an export and an erasure wait for it. The time of our own answers does not count. */
function watchSilence(
  mostMs: number,
  kill: () => void,
): { begin: () => void; end: () => void; isTooLong: () => boolean } {
  let isTooLong = false;
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    timer = setTimeout(() => {
      isTooLong = true;
      kill();
    }, mostMs);
  };
  begin();
  return {
    begin,
    end: () => {
      clearTimeout(timer);
    },
    isTooLong: () => isTooLong,
  };
}

const folder = fileURLToPath(new URL('.', import.meta.url));

/** Returns the Python with PyIceberg. Throws PythonMissing, PythonPackagesMissing. */
export function pythonWithIceberg({
  again = 'daybook export --iceberg',
  ...places
}: PythonPlaces & Pick<ProgramPlaces, 'again'>): Promise<string> {
  const need = { who: 'Iceberg tables', again };
  return pythonWith({ name: 'iceberg', requirements: join(folder, 'requirements.txt'), for: need }, places);
}

/** Keeps PATH, proxies, and the variables for a bucket. */
function buildEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const aws = Object.entries(environment).filter(([name]) => name.startsWith('AWS_'));
  return {
    ...withoutSecrets(environment),
    ...Object.fromEntries(aws),
    PYTHONDONTWRITEBYTECODE: '1',
    // The cache keeps manifest lists of any size, and each is read once.
    PYICEBERG_MANIFEST_CACHE_SIZE: '0',
  };
}

function loginEnvironment(databaseUrl: string, authoritiesFile: string): Record<string, string> {
  const { host, port, user, password, dbname, requireAuth, tls } = libpqAddress(databaseUrl, authoritiesFile);
  return {
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: password,
    PGDATABASE: dbname,
    PGAPPNAME: 'daybook iceberg',
    ...Object.fromEntries(Object.entries(tls).map(([name, value]) => [`PG${name.toUpperCase()}`, value])),
    ...(requireAuth === undefined ? {} : { [requireAuthVariable]: requireAuth }),
  };
}

/** Says why a table is recreated. */
function inWords(why: string): string {
  return why === 'GoneListed' ? 'lists files that are gone' : `cannot be read (${why})`;
}

/** The error type in the last line of a traceback, without its message, which may quote file contents. */
function readErrorType(problems: readonly string[], code: number | null): string {
  const last = problems.filter((line) => /^[\w.]+(Error|Exception|Interrupt)\b/.test(line)).at(-1);
  return last === undefined ? `its program ended with ${String(code)}` : last.split(':', 1).join('');
}

const doneSchema = z.object({
  done: z.object({
    tables: z.number(),
    snapshots: z.number(),
    left: z.array(z.string()),
    /** The number of files that storage did not remove. */
    kept: z.number(),
  }),
});

const saidSchema = z.union([
  z.object({ missing: z.array(z.string()) }),
  z.object({ committed: z.string() }),
  z.object({ looked: z.string() }),
  z.object({ swept: z.string() }),
  z.object({ remade: z.string(), why: z.string() }),
  z.object({ refused: z.string() }),
  doneSchema,
]);
