import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A server that speaks S3, and another reader of Parquet than DuckDB. */
const requirements = ['moto[s3,server]==5.2.5', 'pyarrow==26.0.1'];

/** A folder with `bin/python`, kept for the next time. An installation that broke off is done again. */
export async function pythonEnvironment(): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const digest = createHash('sha256').update(requirements.join(' ')).digest('hex').slice(0, 12);
  const place = join(cache, 'daybook', `test-python-${digest}`);
  const done = join(place, 'done');
  if (await exists(done)) return place;
  await mkdir(dirname(place), { recursive: true });
  await run('python3', ['-m', 'venv', place]);
  await run(join(place, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', ...requirements]);
  await writeFile(done, '');
  return place;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
