import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './cache-folder.ts';

const run = promisify(execFile);

/** An S3 server, and a reader of Parquet other than DuckDB. */
const serverAndReader = ['moto[s3,server]==5.2.5', 'pyarrow==26.0.1'];

/** Returns a folder with `bin/python`, kept for later runs. Two concurrent calls make one each: an environment cannot be moved, but its name can. */
export async function pythonEnvironment(requirements = serverAndReader): Promise<string> {
  const digest = createHash('sha256').update(requirements.join(' ')).digest('hex').slice(0, 12);
  const name = join(cacheFolder, `test-python-${digest}`);
  const known = await readFile(name, 'utf8').catch(() => undefined);
  if (known !== undefined) return known;
  const place = `${name}-${process.pid}`;
  await mkdir(cacheFolder, { recursive: true });
  await run('python3', ['-m', 'venv', place]);
  // Only what is imported is compiled, which is little of it.
  const install = ['-m', 'pip', 'install', '--quiet', '--no-compile', ...requirements];
  await run(join(place, 'bin', 'python'), install);
  await writeFile(`${place}.name`, place);
  await rename(`${place}.name`, name);
  return place;
}
