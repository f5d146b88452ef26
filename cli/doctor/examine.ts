import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { readSettings } from '../settings.ts';
import { apiOf, demandOf } from './api-checks.ts';
import { clockOf, databaseOf, poolerOf, readersOf, secretKeyOf, sessionsOf } from './database-checks.ts';
import { attempt, finding, warnings, type Finding } from './finding.ts';
import { closedFiles, encryption, freeDisk, nodeVersion, pythonFor } from './host-checks.ts';
import { checkTemporal } from './temporal-checks.ts';

/** Looks at everything a sync needs, as far as each check lets the next one look. */
export async function examine(): Promise<Finding[]> {
  const findings = [await finding('Node', () => Promise.resolve(nodeVersion()))];
  const settings = await attempt(findings, 'configuration', async () => {
    const read = await readSettings(['database', 'temporal', 'api']);
    return { value: read, found: 'complete' };
  });
  findings.push(
    await finding('disk', freeDisk),
    ...(await warnings('files', closedFiles)),
    await finding('Python', pythonFor),
  );
  if (settings === undefined) return findings;
  findings.push(...(await warnings('encryption', () => encryption(settings))));
  const warehouse = openWarehouse({ ...settings.database, connections: 2 });
  try {
    findings.push(
      await finding('database', () => databaseOf(warehouse)),
      await finding('clock', () => clockOf(warehouse)),
      ...(await warnings('pooler', () => poolerOf(settings))),
      ...(await warnings('sessions', () => sessionsOf(warehouse))),
      ...(await warnings('readers', () => readersOf(warehouse))),
      await finding('secret key', () => secretKeyOf(warehouse, settings)),
    );
    await checkTemporal(findings, { warehouse, settings });
    findings.push(
      await finding('API', () => apiOf(warehouse, settings)),
      ...(await warnings('API budget', () => demandOf(warehouse, settings))),
    );
  } finally {
    await warehouse.close();
  }
  return findings;
}
