import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { diffSnapshots } from '../../lake/snapshots/diff-snapshots.ts';
import { openDuckDb } from '../../lake/parquet/duck-db.ts';
import { eraseFromSnapshots } from '../../lake/snapshots/erase-from-snapshots.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/manifest/pointer.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake, testWarehouseId as warehouseId } from './create-test-lake.ts';

const { warehouse, url } = await createTestDatabase();
const connectionId = await addTestConnection(warehouse);
await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b1'), bill('b2')]] });

/** A folder name, and that of a folder beside it with the same content, which DuckDB would read if it took the first name for a pattern. */
test.each([
  ['env=prod', 'env=test'],
  ['connection_id=acme-us', 'connection_id=acme-uk'],
  ['id=b9', 'id=b8'],
  ['books[12]', 'books1'],
  ['books*', 'books of others'],
  ['bo?ks [a-z]**', 'books b, and more'],
  [`it's [!] "books" {1,2}%$#`, `it's ] "books" {1,2}%$#`],
  ['a\\b', 'a'],
])(
  'a lake in a folder named %s can be exported to, verified, compared and erased from as anywhere else',
  async (name, beside) => {
    const folder = await mkdtemp(join(tmpdir(), 'daybook-anywhere-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const { exportNow, location, scratch } = await createTestLake(url, {
      lake: join(folder, name, 'lake'),
      scratch: join(folder, name, 'scratch'),
    });
    const { snapshotId: id } = await exportNow();
    await cp(join(folder, name), join(folder, beside), { recursive: true });
    const lake = await openLake({ location, scratch });
    const duckDb = await openDuckDb({ spillFolder: scratch });
    expect((await verifySnapshot(lake, { id, spillFolder: scratch })).problems).toEqual([]);
    const erasure = { warehouseId, connectionId, id: 'b1', columns: { bills: 'id' } };
    const [rewritten] = await eraseFromSnapshots(lake, duckDb, erasure);
    duckDb.close();
    expect(rewritten).toMatchObject({ from: id, erased: 1 });
    const [first, second] = [await readManifest(lake, id), rewritten?.manifest];
    if (first === undefined || second === undefined) throw new Error('A snapshot has no manifest.');
    const options = { keyOf: () => ['id'], spillFolder: scratch, onTable: () => undefined };
    expect((await diffSnapshots(lake, { first, second, ...options })).rows).toEqual([
      { table: 'bills', connection_id: connectionId, added: 0, removed: 1, changed: 0 },
    ]);
  },
);

test('a lake whose path has a backslash and a glob character is refused', async () => {
  for (const location of ['/srv/a\\b/books*', '/srv/[a\\]', '/srv/a\\?'])
    await expect(openLake({ location, scratch: tmpdir() })).rejects.toThrow(
      `Cannot use the lake ${location}: its path has a backslash, and one of [, * and ?.`,
    );
});
