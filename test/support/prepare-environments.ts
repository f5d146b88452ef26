import { pythonWithIceberg } from '../../iceberg/tables-program.ts';
import { pythonWithDbt } from '../../marts/python-with-dbt.ts';
import { requirementsOfDocs } from '../docs/requirements-of-docs.ts';
import { pythonWithReaders } from '../lake/python-with-readers.ts';
import { pgBouncerProgram } from './pgbouncer-program.ts';
import { pythonEnvironment } from './python-environment.ts';
import { cacheFolder } from './cache-folder.ts';

/**
 * Installs what tests would install on their first use, while nothing else uses the network. A failed installation is left to the tests
 * that need it; they report it.
 */
const installOptions = {
  cacheFolder,
  onStep: () => undefined,
};
for (const install of [
  () => pythonWithDbt(installOptions),
  () => pythonWithIceberg(installOptions),
  () => pythonEnvironment(),
  () => pythonWithReaders(),
  () => pythonEnvironment(requirementsOfDocs()),
  () => pgBouncerProgram(),
])
  await install().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  });
