import type { Config } from '../../config/parse-config.ts';
import type { Settings } from '../../config/settings.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { exitCodeOf } from '../exit-code-of.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { readConfig, readSettings } from '../settings.ts';
import { checkApi, checkApiBudget } from './api-checks.ts';
import {
  checkClock,
  checkDatabase,
  checkPooler,
  checkReaders,
  checkKey,
  checkSessions,
} from './database-checks.ts';
import { attempt, finding, warnings, type Finding } from './finding.ts';
import { checkFiles, checkEncryption, checkDisk, checkNode, checkPython } from './host-checks.ts';
import { checkTemporal } from './temporal-checks.ts';

export interface Examined {
  readonly findings: Finding[];
  /** If the configuration cannot work, the same code as for other commands. */
  readonly exitCode: ExitCode;
}

/** Checks everything that a sync needs, as far as the earlier checks allow. */
export async function examine(): Promise<Examined> {
  const findings = [await finding('Node', () => Promise.resolve().then(() => checkNode()))];
  const read: { config?: Config; exitCode?: ExitCode } = {};
  const settings = await attempt(findings, 'configuration', async () => {
    try {
      const config = readConfig();
      read.config = config;
      return { value: await readSettings(['database', 'temporal', 'api'], config), found: 'complete' };
    } catch (error) {
      read.exitCode = exitCodeOf(error);
      throw error;
    }
  });
  const { config } = read;
  if (config !== undefined)
    findings.push(
      await finding('disk', () => checkDisk(config.home)),
      ...(await warnings('files', () => checkFiles(config))),
    );
  findings.push(await finding('Python', checkPython));
  if (config !== undefined && settings !== undefined) await lookFurther(findings, { config, settings });
  const failed = findings.some(({ ok }) => !ok) ? exitCodes.failed : exitCodes.done;
  return { findings, exitCode: read.exitCode ?? failed };
}

async function lookFurther(
  findings: Finding[],
  { config, settings }: { config: Config; settings: Settings },
): Promise<void> {
  findings.push(...(await warnings('encryption', () => checkEncryption(settings))));
  const warehouse = openWarehouse({ ...settings.database, connections: 2 });
  try {
    findings.push(
      await finding('database', () => checkDatabase(warehouse)),
      await finding('clock', () => checkClock(warehouse)),
      ...(await warnings('pooler', () => checkPooler(settings))),
      ...(await warnings('sessions', () => checkSessions(warehouse))),
      ...(await warnings('readers', () => checkReaders(warehouse))),
      await finding('secret key', () => checkKey(warehouse, settings)),
    );
    await checkTemporal(findings, { warehouse, settings, isEmbedded: config.temporal === undefined });
    findings.push(
      await finding('API', () => checkApi(warehouse, settings)),
      ...(await warnings('API budget', () => checkApiBudget(warehouse, settings))),
    );
  } finally {
    await warehouse.close();
  }
}
