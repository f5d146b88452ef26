import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { runTablesProgram, type ProgramPlaces } from '../iceberg/tables-program.ts';
import { removeScratch } from '../lake/files/remove-scratch.ts';
import { openOwnLake, type LakeOwner } from '../lake/own-lake.ts';
import type { Lake } from '../lake/lake.ts';
import { absoluteLocation } from '../lake/location.ts';
import { checkPooler } from '../warehouse/session/check-pooler.ts';
import type { BuildLock } from '../warehouse/marts/build-lock.ts';
import { buildFolder } from './build-folder.ts';
import type { BuildSettings, MartsBuilt } from './build-settings.ts';
import { NoIcebergSnapshot, SparkBehindPooler, SparkRefused } from './errors.ts';
import { requireJava } from './java.ts';
import { jdbcAddress } from './jdbc-address.ts';
import { pythonWithSpark } from './python-with-dbt.ts';
import { runDbt, type DbtResult } from './run-dbt.ts';
import { snapshotForSpark } from './snapshot-for-spark.ts';
import { clearSparkNamespace, sparkNamespaces } from './spark-namespaces.ts';
import { sparkSettings } from './spark-settings.ts';
import { canonicalZone } from './today-in.ts';

/** The data that Spark reads, and its master. */
export interface SparkPlaces {
  readonly lake: string;
  readonly owner: LakeOwner;
  /** The database with the catalog of the Iceberg tables. */
  readonly databaseUrl: string;
  /** `local[*]`, or a cluster. */
  readonly sparkMaster: string;
}

/**
 * Builds and tests the marts with Spark on the newest snapshot that the Iceberg tables show, in tables of a build, then publishes them as their
 * own Iceberg tables. Throws JavaMissing, PythonMissing, NoIcebergSnapshot, SparkBehindPooler, SparkRefused, SnapshotDamaged, MartsFailed, and
 * the errors of the lake.
 */
export async function buildOnSpark(
  { inSession, assertHeld, transaction: buildLock }: BuildLock,
  { lake: location, owner, databaseUrl, sparkMaster, ...settings }: BuildSettings & SparkPlaces,
): Promise<MartsBuilt> {
  const started = performance.now();
  await requireJava(settings.environment);
  const folder = buildFolder(settings.home, 'spark');
  const scratch = join(folder, 'scratch');
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  const lake = await openOwnLake({ location, scratch, assertHeld }, owner);
  try {
    const hasSnapshots = await inSession(async (client) => {
      await clearSparkNamespace(client, lake, { namespace: sparkNamespaces.build, buildLock });
      const { rowCount } = await client.query(
        `select from iceberg.iceberg_tables where table_namespace = 'finance' and table_name = 'snapshots'`,
      );
      return rowCount === 1;
    });
    if (!hasSnapshots) throw new NoIcebergSnapshot(location);
    if ((await checkPooler(databaseUrl, 'DAYBOOK_DATABASE_DIRECT_URL')) !== 'none')
      throw new SparkBehindPooler();
    const python = await pythonWithSpark(settings);
    await forgetForeignTables(lake, { ...settings, databaseUrl, scratch, inSession });
    settings.onStep('Spark is being started');
    const { catalog, user, passwordFile } = await jdbcAddress(databaseUrl, { folder: scratch, buildLock });
    const said: Said = { snapshotId: undefined, refused: undefined, published: [] };
    const result = await runUnlessRefused(said, location, () =>
      runDbt({
        ...settings,
        python,
        folder,
        seedsFolder: join(settings.home, 'seeds'),
        connections: Infinity,
        output: { type: 'spark', method: 'session', host: 'none', schema: sparkNamespaces.build },
        secrets: bucketLogin(settings.environment),
        login: {
          ...temporaryFilesIn(scratch, settings.environment),
          PGPASSFILE: passwordFile,
          DAYBOOK_SPARK_JOB: JSON.stringify({
            lake: absoluteLocation(location),
            jars: join(settings.cacheFolder, 'spark-jars'),
            catalog,
            user,
            master: sparkMaster,
            settings: sparkSettings(sparkMaster, settings.environment),
            namespace: sparkNamespaces.marts,
            build_namespace: sparkNamespaces.build,
            manifest: join(folder, 'target', sparkNamespaces.build, 'manifest.json'),
            log: join(folder, 'logs', 'spark.log'),
          }),
        },
        vars: {
          daybook_api_address: settings.apiAddress,
          daybook_as_of_date: settings.asOfDate,
          daybook_reporting_timezone: canonicalZone(settings.timeZone),
          daybook_capture_schema: 'global_temp',
          daybook_staging_schema: sparkNamespaces.build,
          daybook_intermediate_schema: sparkNamespaces.build,
          daybook_marts_schema: sparkNamespaces.build,
        },
        within: {
          program: 'run_dbt_on_spark.py',
          onSaid: listener({ lake, owner }, said, settings),
        },
      }),
    );
    await assertHeld();
    const seconds = (performance.now() - started) / 1000;
    return {
      target: 'spark',
      snapshot_id: said.snapshotId ?? '',
      as_of_date: settings.asOfDate,
      marts: said.published,
      ...result,
      seconds,
    };
  } finally {
    // The next build removes any leftovers first.
    await inSession((client) =>
      clearSparkNamespace(client, lake, { namespace: sparkNamespaces.build, buildLock }),
    ).catch(() => undefined);
    await lake.close();
    await removeScratch(scratch, assertHeld);
  }
}

/** Anyone with write access to the lake can write the metadata of tables from an earlier build, and Spark would trust it. */
async function forgetForeignTables(
  lake: Lake,
  { inSession, ...places }: ProgramPlaces & Pick<BuildLock, 'inSession'>,
): Promise<void> {
  const namespace = sparkNamespaces.marts;
  await inSession((client) =>
    client.query(
      `insert into iceberg.iceberg_namespace_properties values ('daybook', $1, 'exists', 'true') on conflict do nothing`,
      [namespace],
    ),
  );
  const location = absoluteLocation(lake.location);
  await runTablesProgram(
    places,
    { lake: location, namespace, check: true, kept: [], sweep: true, erases: false },
    // Spark does not take the lock of the tables. Once the program has it, the check of the next build waits.
    { answer: () => lake.assertHeld().then(() => []) },
  );
}

/** Puts temporary files into the scratch folder, where those of a killed JVM are removed with the build; in /tmp they would stay. */
function temporaryFilesIn(scratch: string, { SPARK_SUBMIT_OPTS }: NodeJS.ProcessEnv): Record<string, string> {
  return {
    TMPDIR: scratch,
    SPARK_LOCAL_DIRS: scratch,
    SPARK_SUBMIT_OPTS: [SPARK_SUBMIT_OPTS ?? [], `"-Djava.io.tmpdir=${scratch}"`].flat().join(' '),
  };
}

interface Said {
  snapshotId: string | undefined;
  refused: Error | string | undefined;
  published: readonly string[];
}

/** Handles the program's own messages, apart from dbt's. */
function listener(
  places: { lake: Lake; owner: LakeOwner },
  said: Said,
  { onStep }: Pick<BuildSettings, 'onStep'>,
): (line: string, tell: (what: unknown) => void) => boolean {
  return (line, tell) => {
    const heard = saidBy(line);
    if (heard === undefined) return false;
    const end = (error: unknown): void => {
      said.refused = error instanceof Error ? error : String(error);
      tell({ end: true });
    };
    if ('listed' in heard) {
      snapshotForSpark(places, heard.listed).then((found) => {
        said.snapshotId = found.snapshot;
        onStep(`marts are being built on Spark, on snapshot ${found.snapshot}`);
        tell(found);
      }, end);
    } else if ('publishing' in heard) onStep('the marts are being published');
    else if ('refused' in heard) said.refused = heard.refused;
    else said.published = heard.published;
    return true;
  };
}

async function runUnlessRefused(said: Said, lake: string, run: () => Promise<DbtResult>): Promise<DbtResult> {
  try {
    return await run();
  } catch (error) {
    if (said.refused instanceof Error) throw said.refused;
    if (said.refused === 'no snapshot') throw new NoIcebergSnapshot(lake);
    if (said.refused !== undefined) throw new SparkRefused(said.refused);
    throw error;
  }
}

const saidSchema = z.union([
  z.object({ listed: z.array(z.string()) }),
  z.object({ publishing: z.literal(true) }),
  z.object({ refused: z.string() }),
  z.object({ published: z.array(z.string()) }),
]);

function saidBy(line: string): z.infer<typeof saidSchema> | undefined {
  try {
    return saidSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Returns the variables for a bucket. */
function bucketLogin(environment: NodeJS.ProcessEnv): Record<string, string> {
  const found = Object.entries(environment).filter(([name]) => name.startsWith('AWS_'));
  return Object.fromEntries(found) as Record<string, string>;
}
