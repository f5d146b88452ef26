import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withRoom } from '../../activities/export/with-room.ts';
import { openDuckDb } from '../../lake/parquet/duck-db.ts';
import { openFolderLake } from '../../lake/storage/folder-lake.ts';
import { warehouseId } from '../../warehouse/warehouse-id.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { pathWithoutPython } from '../support/path-without-python.ts';
import { land } from '../support/land.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestLake } from './create-test-lake.ts';
import { mayMount, smallDisk } from './small-disk.ts';

if (!mayMount) process.stderr.write('Full disks are not tested: only root on Linux may mount a small one.\n');
const disk = mayMount ? await smallDisk(3) : '';
const lake = join(disk, 'lake');
const installation = await createInstallation({ env: { DAYBOOK_LAKE: lake } });
const { warehouse, run, databaseUrl } = installation;

test.skipIf(!mayMount)(
  'a disk that is full in the middle of an export fails the run at once with what is needed where; the next one tidies up',
  async () => {
    await installation.startWorker(await pathWithoutPython(installation.cwd));
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
    const { exportNow } = await createTestLake(databaseUrl, {
      lake,
      warehouseId: await warehouseId(warehouse),
    });
    await exportNow();
    const before = await readFile(join(lake, 'latest.json'), 'utf8');
    // The last snapshot was small, so this export begins; and these values do not compress.
    await rows(
      warehouse,
      `update finance.bills set memo = (select string_agg(md5(i::text), '') from generate_series(1, 250000) i)`,
    );
    const { code, stderr, stdout } = await run(['export']);
    const said = `There is no room for a snapshot in ${join(lake, 'snapshots')}: it needs about 1 MB. Free some space or set DAYBOOK_LAKE`;
    expect(stderr + stdout).toContain(said);
    expect(code).toBe(1);
    const newest = await row(
      warehouse,
      `select status, failure from sync.runs where kind = 'export' order by started_at desc limit 1`,
    );
    expect(newest).toMatchObject({ status: 'failed', failure: expect.stringContaining(said) as string });
    expect(await readFile(join(lake, 'latest.json'), 'utf8')).toBe(before);
    expect(await readdir(join(lake, 'snapshots'))).toHaveLength(1);
    await rows(warehouse, `update finance.bills set memo = 'short'`);
    await exportNow();
    expect((await readdir(join(lake, 'snapshots'))).every((name) => !name.startsWith('.'))).toBe(true);
    expect((await run(['snapshots', 'verify'])).code).toBe(0);
  },
);

test.skipIf(!mayMount)('a full disk leaves the old pointer in place', async () => {
  const folder = openFolderLake(join(disk, 'other'));
  await folder.replace('latest.json', 'old', undefined);
  await fillUp(disk);
  await expect(folder.replace('latest.json', 'x'.repeat(100_000), undefined)).rejects.toThrow(
    `There is no room for a snapshot in ${join(disk, 'other')}`,
  );
  expect((await folder.read('latest.json'))?.text).toBe('old');
  await rm(join(disk, 'filler'));
  await folder.removeLeftovers('snapshots');
  expect(await readdir(join(disk, 'other'))).toEqual(['latest.json']);
});

test.skipIf(!mayMount)(
  'a scratch folder that is too full for a draft is named in the error, and the draft is removed',
  async () => {
    const scratch = join(disk, 'scratch');
    const draft = join(scratch, 'draft', 'some-snapshot');
    const writing = withRoom({ folder: draft, scratch, neededBytes: 1_000 }, async () => {
      await fillUp(scratch);
      throw new Error('A full disk took more than it has.');
    });
    await expect(writing).rejects.toThrow(/no room .* in .*scratch\/draft: .* set DAYBOOK_HOME to/);
    expect(existsSync(draft)).toBe(false);
  },
);

test.skipIf(!mayMount)('a scratch folder without room to spill is named in the error', async () => {
  const scratch = join(disk, 'small-scratch');
  await mkdir(scratch);
  const folder = join(installation.cwd, 'elsewhere', 'draft');
  const duckDb = await openDuckDb({ spillFolder: join(scratch, 'spill') });
  const writing = withRoom({ folder, scratch, neededBytes: 1_000 }, async () => {
    const connection = await duckDb.connect();
    await connection.run("set memory_limit = '50MB'");
    await connection.run(
      'create table spilled as select md5(i::varchar) as text from range(3000000) t(i) order by 1',
    );
  });
  await expect(writing).rejects.toThrow(/no room .* in .*small-scratch: .* set DAYBOOK_HOME to/);
  duckDb.close();
});

/** Fills the disk. Throws only if writing fails for another reason. */
async function fillUp(folder: string): Promise<void> {
  const filler = writeFile(join(folder, 'filler'), Buffer.alloc(4_000_000));
  if (folder !== disk) return filler;
  await expect(filler).rejects.toMatchObject({ code: 'ENOSPC' });
}
