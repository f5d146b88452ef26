import { spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { openDuckDb, quoted } from '../../lake/parquet/duck-db.ts';
import { openLake } from '../../lake/open-lake.ts';
import { dbtProject } from '../../marts/dbt-project.ts';
import { localSnapshot } from '../../marts/local-snapshot.ts';
import { prepareProject } from '../../marts/prepare-project.ts';
import { pythonWithDbt } from '../../marts/python-with-dbt.ts';
import { testApiAddress } from '../support/test-connection.ts';
import { cacheFolder } from '../support/cache-folder.ts';
import { martNames } from './compare-marts.ts';
import { martInFile, type MartRead } from './read-marts.ts';
import type { BooksFixture } from './books-fixture.ts';

/**
 * Runs the models, without their tests, on the snapshot of the loaded books. `edit` may change the copy of the project that is run. Returns the
 * marts, or dbt's output if a model did not run.
 */
export async function runModels(
  { home, lake: location, calculatorInput }: Pick<BooksFixture, 'home' | 'lake' | 'calculatorInput'>,
  input: { asOfDate: string; edit?: (project: string) => Promise<void> },
): Promise<{ marts: ReadonlyMap<string, MartRead> } | { failure: string }> {
  const folder = join(home, 'models');
  const project = join(folder, 'project');
  const database = join(folder, 'marts.duckdb');
  await prepareProject({ seedsFolder: join(home, 'seeds'), project });
  await input.edit?.(project);
  const lake = await openLake({ location, scratch: join(folder, 'scratch') });
  // Removes the links of the previous run.
  await rm(join(folder, 'snapshots'), { recursive: true, force: true });
  const { folder: snapshot } = await localSnapshot(lake, join(folder, 'snapshots'));
  await lake.close();
  const output = {
    type: 'duckdb',
    path: database,
    schema: 'main',
    settings: { TimeZone: 'UTC' },
    threads: 2,
  };
  const profile = { daybook: { target: 'build', outputs: { build: output } } };
  await writeFile(join(folder, 'profiles.yml'), JSON.stringify(profile));
  try {
    const said = await dbt(folder, {
      daybook_api_address: testApiAddress,
      daybook_as_of_date: input.asOfDate,
      daybook_reporting_timezone: calculatorInput.time_zone,
      daybook_snapshot: snapshot,
    });
    return said === null ? { marts: await readAll(database, folder) } : { failure: said };
  } finally {
    // Keeps dbt's parsed project, so that the next run reads only what differs.
    await rm(database, { force: true });
  }
}

/** Returns null if every model ran. */
async function dbt(folder: string, vars: Readonly<Record<string, string>>): Promise<string | null> {
  const python = await pythonWithDbt({ cacheFolder, onStep: () => undefined });
  const args = [
    ...['build', '--exclude-resource-type', 'test', '--project-dir', join(folder, 'project')],
    ...[
      '--profiles-dir',
      folder,
      '--target-path',
      join(folder, 'target'),
      '--log-path',
      join(folder, 'logs'),
    ],
    ...['--log-level', 'none', '--no-use-colors', '--vars', JSON.stringify(vars)],
  ];
  const child = spawn(python, [join(dbtProject, 'run_dbt.py'), ...args], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, DBT_SEND_ANONYMOUS_USAGE_STATS: 'false', PYTHONDONTWRITEBYTECODE: '1' },
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (child.exitCode === 0) return null;
  return output.split('\n').find((line) => line.includes('"message"')) ?? errors;
}

async function readAll(database: string, folder: string): Promise<Map<string, MartRead>> {
  const duckDb = await openDuckDb({ spillFolder: folder });
  const marts = new Map<string, MartRead>();
  try {
    const connection = await duckDb.connect();
    await connection.run(`attach ${quoted(database)} as built (read_only)`);
    for (const mart of martNames) {
      const file = join(folder, `${mart}.parquet`);
      await connection.run(`copy built.marts.${mart} to ${quoted(file)} (format parquet)`);
      marts.set(mart, await martInFile(file));
    }
  } finally {
    duckDb.close();
  }
  return marts;
}

/** Makes one edit of one file of the copy. Throws if `find` does not occur exactly once. */
export async function editFile(file: string, find: string, replace: string): Promise<void> {
  const right = await readFile(file, 'utf8');
  const [before, after, ...more] = right.split(find);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`The list of mutants is stale: "${find}" does not occur exactly once in ${file}.`);
  await writeFile(file, `${before}${replace}${after}`);
}
