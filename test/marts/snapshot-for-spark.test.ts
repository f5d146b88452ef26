import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { manifestText } from '../../lake/manifest/manifest.ts';
import { openLake } from '../../lake/open-lake.ts';
import { NoIcebergSnapshot } from '../../marts/errors.ts';
import { snapshotForSpark } from '../../marts/snapshot-for-spark.ts';
import { emptyManifest } from '../lake/empty-manifest.ts';

const location = await mkdtemp(join(tmpdir(), 'daybook-snapshot-for-spark-'));
afterAll(() => rm(location, { recursive: true, force: true }));
const lake = await openLake({ location, scratch: join(location, 'scratch') });
const owner = { warehouseId: 'ours', hasNoted: () => Promise.resolve(false) };

const [older, newest] = ['20260101T000000Z-aaaaaa', '20260102T000000Z-bbbbbb'];

test('Spark reads the last listed snapshot, but none whose ID or manifest has a time years ahead', async () => {
  for (const id of [older, newest]) await putManifest(id);
  expect(await snapshotForSpark({ lake, owner }, [older, newest])).toMatchObject({ snapshot: newest });
  // The order of the rows counts, as after the reset of a run.
  expect(await snapshotForSpark({ lake, owner }, [newest, older])).toMatchObject({ snapshot: older });
  const [ahead, planted] = ['20990101T000000Z-cccccc', '20260103T000000Z-dddddd'];
  await putManifest(ahead);
  await putManifest(planted, '2099-01-01T00:00:00Z');
  const listed = [older, newest, planted, ahead, 'no ID'];
  expect(await snapshotForSpark({ lake, owner }, listed)).toMatchObject({ snapshot: newest });
  await expect(snapshotForSpark({ lake, owner }, [planted, ahead])).rejects.toThrow(NoIcebergSnapshot);
});

async function putManifest(id: string, takenAt = emptyManifest(id, 'ours').taken_at): Promise<void> {
  await mkdir(join(location, 'snapshots', id), { recursive: true });
  const text = manifestText({ ...emptyManifest(id, 'ours'), taken_at: takenAt });
  await writeFile(join(location, 'snapshots', id, '_manifest.json'), text);
}
