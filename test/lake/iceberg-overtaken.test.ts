import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { runTablesProgram } from '../../iceberg/tables-program.ts';
import { openLake } from '../../lake/open-lake.ts';
import { cacheFolder } from '../support/cache-folder.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { pythonWithReaders } from './python-with-readers.ts';

const { warehouse, url } = await createTestDatabase();
const { exportNow, location, scratch } = await createTestLake(url, { iceberg: { add: true, cacheFolder } });
const lake = await openLake({ location, scratch });
const connectionId = await addTestConnection(warehouse);

test('the program of the Iceberg tables commits nothing once it has lost its lock', async () => {
  for (const id of ['one', 'two']) {
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill(id)]] });
    await exportNow();
  }
  const kept = (await lake.snapshotIds()).slice(-1);
  const before = await listOf();
  const job = {
    lake: location,
    namespace: 'finance',
    check: false,
    kept,
    sweep: false,
    erases: false,
  } as const;
  const places = { databaseUrl: url, cacheFolder, scratch: join(scratch, 'iceberg') };
  const answer = async (): Promise<never[]> => {
    await rows(
      warehouse,
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity
       where datname = current_database() and application_name = 'daybook iceberg' and state like 'idle in transaction%'`,
    );
    return [];
  };
  await expect(runTablesProgram(places, job, { answer })).rejects.toThrow(
    'The Iceberg tables do not show every snapshot',
  );
  expect(await listOf()).toEqual(before);
});

test('a commit that another program has overtaken ends with an error after which PyIceberg removes what it wrote, and repeats nothing', async () => {
  const programs = fileURLToPath(new URL('../../iceberg', import.meta.url));
  const { stdout } = await promisify(execFile)(await pythonWithReaders(), ['-c', overtaken, programs]);
  expect(stdout).toBe('OvertakenError True False\n');
});

/** The list of complete snapshots, by the path of its metadata. */
function listOf(): Promise<Record<string, unknown>> {
  return row(
    warehouse,
    `select metadata_location from iceberg.iceberg_tables where table_namespace = 'finance' and table_name = 'snapshots'`,
  );
}

/** PyIceberg repeats commits after the one error, and removes what it wrote after the other. */
const overtaken = `
import sys
sys.path.insert(0, sys.argv[1])
import publish_tables
from pyiceberg.exceptions import CommitFailedException, ValidationException

def refuse(*_):
    raise CommitFailedException()

publish_tables.SqlCatalog.commit_table = refuse
try:
    object.__new__(publish_tables.OwnCatalog).commit_table(None, (), ())
except Exception as error:
    print(type(error).__name__, isinstance(error, ValidationException), isinstance(error, CommitFailedException))
`;
