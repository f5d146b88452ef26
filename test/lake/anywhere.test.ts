import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { diffSnapshots } from '../../lake/diff-snapshots.ts';
import { openDuckDb } from '../../lake/duck-db.ts';
import { eraseFromSnapshots } from '../../lake/erase-from-snapshots.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/pointer.ts';
import { verifySnapshot } from '../../lake/verify-snapshot.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './export-of.ts';

const { warehouse, url } = await createTestDatabase();
const connectionId = await addTestConnection(warehouse);
await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b1'), bill('b2')]] });

test.each(['env=prod', 'connection_id=acme-us', 'id=b9'])(
  'in a folder named %s a lake is what it is elsewhere: exported, verified, compared, and a record erased from it',
  async (name) => {
    const folder = await mkdtemp(join(tmpdir(), 'daybook-anywhere-'));
    afterAll(() => rm(folder, { recursive: true, force: true }));
    const { exportNow, location, scratch } = await createTestLake(url, {
      lake: join(folder, name, 'lake'),
      scratch: join(folder, 'scratch'),
    });
    const { snapshotId: id } = await exportNow();
    const lake = await openLake({ location, scratch });
    const duckDb = await openDuckDb({ spillFolder: scratch });
    expect((await verifySnapshot(lake, { id, spillFolder: scratch })).problems).toEqual([]);
    const erasure = { connectionId, id: 'b1', columns: { bills: 'id' } };
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
