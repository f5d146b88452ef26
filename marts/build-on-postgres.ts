import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { to } from 'pg-copy-streams';
import { endDbtSessions, type BuildLock } from '../warehouse/marts/build-lock.ts';
import { emptyCopies, prepareSchemas } from '../warehouse/marts/prepare-schemas.ts';
import { publishMarts } from '../warehouse/marts/publish-marts.ts';
import { buildFolder } from './build-folder.ts';
import type { BuildSettings, MartsBuilt } from './build-settings.ts';
import { postgresOutput } from './postgres-output.ts';
import { pythonWithDbt } from './python-with-dbt.ts';
import { trustedAuthorities } from '../python/trusted-authorities.ts';
import { runDbt, type DbtBuild, type DbtResult } from './run-dbt.ts';
import { canonicalZone } from './today-in.ts';
import { writeSeedTemplates } from './write-seed-templates.ts';

/**
 * Builds and tests the marts in a schema without readers, then switches the views in `marts` to it. Until then, and if this process is killed,
 * readers see the last good build. Throws PythonMissing, MartsFailed, MartInUse.
 */
export async function buildOnPostgres(
  { inSession, transaction, requireLock }: BuildLock,
  { databaseUrl, ...settings }: BuildSettings & { databaseUrl: string },
): Promise<MartsBuilt> {
  const started = performance.now();
  const seedsFolder = join(settings.home, 'seeds');
  const python = await pythonWithDbt(settings);
  const waiting = { ...settings, requireLock };
  const schema = await inSession((client) => prepareSchemas(client, waiting));
  const folder = buildFolder(settings.home, 'postgres');
  const authoritiesFile = join(folder, 'authorities.pem');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(authoritiesFile, await trustedAuthorities());
  settings.onStep('marts are being built on Postgres');
  const result = await runOn(inSession, {
    ...settings,
    ...postgresOutput(databaseUrl, authoritiesFile),
    python,
    seedsFolder,
    folder,
    buildLock: transaction,
    vars: {
      daybook_api_address: settings.apiAddress,
      daybook_as_of_date: settings.asOfDate,
      daybook_reporting_timezone: canonicalZone(settings.timeZone),
      daybook_capture_schema: 'staging',
      daybook_marts_schema: schema,
    },
  });
  const marts = await inSession(async (client) => {
    await writeSeedTemplates(seedsFolder, (query, file) =>
      pipeline(
        client.query(to(`copy (${query}) to stdout with (format csv, header)`)),
        createWriteStream(file),
      ),
    );
    const shown = await publishMarts(client, { schema }, waiting);
    await emptyCopies(client, waiting);
    return shown;
  });
  const seconds = (performance.now() - started) / 1000;
  return { target: 'postgres', as_of_date: settings.asOfDate, marts, ...result, seconds };
}

/** Ends dbt's sessions after a failed build; if the database went away, that error is thrown. */
async function runOn(inSession: BuildLock['inSession'], build: DbtBuild): Promise<DbtResult> {
  try {
    return await runDbt(build);
  } catch (error) {
    await inSession(endDbtSessions);
    throw error;
  }
}
