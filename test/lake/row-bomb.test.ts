import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { diffSnapshots } from '../../lake/snapshots/diff-snapshots.ts';
import { openDuckDb } from '../../lake/parquet/duck-db.ts';
import { eraseFromSnapshots } from '../../lake/snapshots/erase-from-snapshots.ts';
import type { Manifest } from '../../lake/manifest/manifest.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/manifest/pointer.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { localSnapshot } from '../../marts/local-snapshot.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake, testWarehouseId as warehouseId } from './create-test-lake.ts';
import { repeatRowGroup } from './repeat-row-group.ts';

const { warehouse, url } = await createTestDatabase();
const { exportNow, location, scratch } = await createTestLake(url);
const connectionId = await addTestConnection(warehouse);
await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b1'), bill('b2')]] });
const { snapshotId: id } = await exportNow();
const lake = await openLake({ location, scratch });
const path = 'bills/part-00000.parquet';
let whole: Buffer;

beforeAll(async () => {
  whole = await readFile(join(location, 'snapshots', id, path));
});

test.each([
  ['and the footer tells', true],
  ['and the footer conceals', false],
])('every reader refuses a file with more rows than its manifest says, %s', async (_, rows) => {
  const before = await manifestOf();
  // With row groups of ten million it would be ten billion.
  await plant(repeatRowGroup(whole, { times: 1_000, rows }));
  const started = performance.now();
  const { problems } = await verifySnapshot(lake, { id, spillFolder: scratch });
  expect(problems).toEqual([`${path} has another number of rows`]);
  const damaged = `${path} of snapshot ${id} is not what its manifest says`;
  await expect(localSnapshot(lake, await freshFolder())).rejects.toThrow(damaged);
  await expect(
    diffSnapshots(lake, {
      first: before,
      second: await manifestOf(),
      keyOf: () => ['id'],
      spillFolder: scratch,
      onTable: () => undefined,
    }),
  ).rejects.toThrow(damaged);
  const duckDb = await openDuckDb({ spillFolder: scratch });
  const erasure = { warehouseId, connectionId, id: 'b1', columns: { bills: 'id' } };
  await expect(eraseFromSnapshots(lake, duckDb, erasure)).rejects.toThrow(damaged);
  duckDb.close();
  expect(performance.now() - started).toBeLessThan(20_000);
});

async function manifestOf(): Promise<Manifest> {
  const manifest = await readManifest(lake, id);
  if (manifest === undefined) throw new Error(`${id} has no manifest`);
  return manifest;
}

/** Replaces a file as an attacker with write access does: manifest and pointer name the new file, and its rows are those of the old one. */
async function plant(file: Buffer): Promise<void> {
  await writeFile(join(location, 'snapshots', id, path), file);
  const manifestPath = join(location, 'snapshots', id, '_manifest.json');
  const manifest = JSON.parse(await readFile(manifestPath, 'utf8')) as Manifest;
  Object.assign(manifest.tables.bills?.files[0] ?? {}, { bytes: file.length, sha256: sha256(file) });
  const text = JSON.stringify(manifest);
  await writeFile(manifestPath, text);
  const pointerPath = join(location, 'latest.json');
  const pointer = JSON.parse(await readFile(pointerPath, 'utf8')) as object;
  await writeFile(pointerPath, JSON.stringify({ ...pointer, manifest_sha256: sha256(text) }));
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-row-bomb-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
