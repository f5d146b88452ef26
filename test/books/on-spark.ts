import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildOnSpark } from '../../marts/build-on-spark.ts';
import { withBuildLock } from '../../warehouse/marts/build-lock.ts';
import { pythonWithReaders } from '../lake/python-with-readers.ts';
import { readerOf } from '../lake/read-iceberg.ts';
import { buildSettings } from './check-books.ts';
import { compareMart, martNames, type Compared } from './compare-marts.ts';
import { martInFile, type MartRead } from './read-marts.ts';
import type { BooksFixture } from './books-fixture.ts';

/** Builds the marts of the loaded books with Spark as the product does, and compares every figure with the calculator's. */
export async function buildOnSparkAndCompare(fixture: BooksFixture): Promise<Compared> {
  const { databaseUrl, lake, home, calculated } = fixture;
  const conf = join(home, 'spark-conf');
  await mkdir(conf);
  await writeFile(join(conf, 'spark-defaults.conf'), forFewRows);
  const settings = buildSettings(fixture);
  const environment = { ...settings.environment, SPARK_CONF_DIR: conf };
  await withBuildLock({ databaseUrl, target: 'spark' }, (lock) =>
    buildOnSpark(lock, { ...settings, environment, lake, databaseUrl, sparkMaster: 'local[2]' }),
  );
  const compared: Compared = { rows: 0, figures: 0, differences: [] };
  const marts = await martsOnSpark(databaseUrl, home);
  for (const name of martNames)
    compareMart(compared, { name, where: 'Spark', ...(marts.get(name) ?? none) }, calculated);
  return compared;
}

const none: MartRead = { rows: [], kinds: {} };

/** The marts that a reader finds at the newest tag marked complete. */
export async function martsOnSpark(databaseUrl: string, scratch: string): Promise<Map<string, MartRead>> {
  const files = await mkdtemp(join(scratch, 'from-spark-'));
  const program = fileURLToPath(new URL('marts_to_parquet.py', import.meta.url));
  await promisify(execFile)(await pythonWithReaders(), [program, files], {
    env: { ...process.env, ...readerOf(databaseUrl) },
  });
  const marts = new Map<string, MartRead>();
  for (const name of martNames) marts.set(name, await martInFile(join(files, `${name}.parquet`)));
  return marts;
}

/** With so few rows, compiling a query takes longer than running it. */
export const forFewRows = `
spark.ui.enabled                       false
spark.driver.bindAddress               127.0.0.1
spark.driver.host                      127.0.0.1
spark.driver.memory                    2g
spark.driver.extraJavaOptions          -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC
spark.sql.shuffle.partitions           1
spark.sql.adaptive.enabled             false
spark.sql.codegen.wholeStage           false
spark.sql.codegen.factoryMode          NO_CODEGEN
`;
