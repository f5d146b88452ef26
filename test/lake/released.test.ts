import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ExportJob } from '../../activities/export/export-job.ts';
import { showMarts } from '../../iceberg/show-snapshots.ts';
import type { Manifest } from '../../lake/manifest/manifest.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/manifest/pointer.ts';
import { retireSnapshots } from '../../lake/snapshots/retire-snapshots.ts';
import { snapshotId } from '../../lake/manifest/snapshot-id.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { currentMarts } from '../../marts/show-in-iceberg.ts';
import { eraseFromLake, type SnapshotErased } from '../../operations/erase-from-lake.ts';
import { bills } from '../../resources/bills.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { settingsOf } from '../console/open-console.ts';
import { buildEnvironment } from '../dbt/build-environment.ts';
import { cacheFolder } from '../support/cache-folder.ts';
import { runDaybook, type Ended } from '../support/daybook-process.ts';
import { oldestAndNewest } from '../support/proof-test.ts';
import { loadWarehouseOfLake, recordedLake, unpackLake, versionsWithLake } from '../support/released-lake.ts';
import { row, rows } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { manifestSeen, readIceberg } from './read-iceberg.ts';
import { readParquet } from './read-parquet.ts';

const lakes = await Promise.all(
  oldestAndNewest(versionsWithLake).map(async (version) => {
    const { warehouse, url } = await createTestDatabase('template template0');
    await loadWarehouseOfLake({ version, url });
    await migrate(warehouse);
    // Its key is lost.
    await rows(warehouse, `delete from sync.settings where name = 'secret_key_fingerprint'`);
    const { id } = await row(warehouse, `select value as id from sync.settings where name = 'warehouse_id'`);
    const warehouseId = String(id);
    const place = await unpackLake(version);
    const iceberg = { add: true, cacheFolder };
    const lake = await createTestLake(url, { lake: place, warehouseId, iceberg });
    const { env } = await buildEnvironment({ databaseUrl: url, lake: place });
    const { known } = await row(warehouse, `select count(*) as known from iceberg.iceberg_tables`);
    const hasIceberg = Number(known) > 0;
    return { version, hasIceberg, warehouse, url, warehouseId, env, ...lake };
  }),
);

test('the recorded lakes include the last without shared files and Iceberg tables, and the first with them', () => {
  expect(versionsWithLake).toEqual(expect.arrayContaining(['v0.5.0', 'v0.6.0']));
  expect(lakes.map(({ version, hasIceberg }) => [version, hasIceberg])).toEqual(
    lakes.map(({ version }) => [version, version !== 'v0.5.0']),
  );
});

describe.each(lakes)(
  'a lake of $version',
  ({ version, hasIceberg, warehouse, url, warehouseId, env, location, scratch, exportNow }) => {
    const moved = { from: recordedLake, to: location };
    const connectionId = 'acme-us';
    let recorded: string[];
    let today: string[];

    beforeAll(async () => {
      const noted = await rows(
        warehouse,
        'select snapshot_id as id from sync.snapshots where removed_at is null order by 1',
      );
      recorded = noted.map(({ id }) => String(id));
      expect(recorded.length).toBeGreaterThan(1);
    });

    test('is listed, and each of its snapshots is whole', async () => {
      const { stdout } = await daybook('snapshots', 'list', '--json');
      const listed = JSON.parse(stdout) as { id: string; latest: boolean; problem: string | null }[];
      expect(listed.reverse().map(({ id, latest, problem }) => ({ id, latest, problem }))).toEqual(
        recorded.map((id) => ({ id, latest: id === recorded.at(-1), problem: null })),
      );
      const { stdout: verified } = await daybook('snapshots', 'verify');
      expect(verified).toContain(`Snapshot ${recorded.at(-1) ?? ''} is intact`);
      const lake = await openLake({ location, scratch });
      for (const id of recorded.slice(0, -1))
        expect((await verifySnapshot(lake, { id, spillFolder: scratch })).problems).toEqual([]);
    });

    test('has Iceberg tables whose tags have the sums of the manifests, if its release made any', async () => {
      const tagged = hasIceberg ? recorded : [];
      const seen = await readIceberg(url, { reader: 'pyiceberg', moved });
      expect(seen).toMatchObject(await manifestsSeen(tagged));
      expect(Object.keys(seen).sort()).toEqual(tagged);
    });

    test('has Iceberg tables of the marts that its pointer names, if its release made any', async () => {
      const pointer = JSON.parse(await readFile(join(location, 'latest-marts.json'), 'utf8')) as {
        snapshot_id: string;
      };
      const seen = await readIceberg(url, {
        reader: 'pyiceberg',
        namespace: 'marts',
        tables: ['bills'],
        moved,
      });
      const [counted] = await readParquet(
        join(location, 'marts', pointer.snapshot_id),
        `select count(*) as rows from read_parquet('{lake}/bills/*.parquet')`,
      );
      const rowsOf = Number(counted?.rows);
      expect(rowsOf).toBeGreaterThan(0);
      const shown = hasIceberg ? [pointer.snapshot_id] : [];
      expect(Object.entries(seen).map(([id, { bills: table }]) => [id, table?.rows])).toEqual(
        shown.map((id) => [id, rowsOf]),
      );
    });

    test('takes new exports, which report changes since the release and share unchanged parts', async () => {
      const forgotten = await daybook('snapshots', 'forget', recordedLake);
      expect(forgotten).toMatchObject({ code: 0, stderr: '' });
      expect(forgotten.stdout).toContain(`${recorded.length} snapshots are now recorded in this lake.`);
      const { snapshotId: upgraded } = await exportToday();
      expect(await differences(recorded.at(-1)!, upgraded)).toEqual([
        { ...rowsSince[version], added: 1, removed: 0, changed: 0 },
      ]);
      expect(await exportToday()).toMatchObject({ skipped: true, snapshotId: upgraded });
      // A restored database remembers nothing of the snapshot before, so the first export writes everything anew.
      await renameCustomer('Of today');
      const { snapshotId: first } = await exportToday();
      await renameCustomer('Of tonight');
      const { snapshotId: second } = await exportToday();
      today = [upgraded, first, second];
      expect(await differences(upgraded, second)).toEqual([
        { connection_id: connectionId, table: 'customers', added: 0, removed: 0, changed: 1 },
      ]);
      await expectShared(first, second);
      await showMartsHere();
      const seen = await readIceberg(url, { reader: 'pyiceberg', tables: ['bills', 'customers'] });
      expect(seen).toMatchObject(await manifestsSeen([...recorded, ...today], ['bills', 'customers']));
    });

    test('loses an erased record from every snapshot and from the Iceberg tables', async () => {
      const before = [...recorded, ...today];
      const id = await billInAll(before);
      const manifests = await manifestsOf(before);
      const { erased, kept } = await erase(id);
      expect(kept).toEqual([]);
      expect(erased.map(({ from }) => from).sort()).toEqual(before);
      expect(await filesWith(id)).toEqual([]);
      const after = await manifestsOf(erased.map(({ to }) => to));
      for (const { from, to } of erased)
        expect(filesOf(after[to]!, 'expenses')).toEqual(filesOf(manifests[from]!, 'expenses'));
      recorded = erased.map(({ to }) => to).sort();
      const seen = await readIceberg(url, { reader: 'pyiceberg', tables: ['bills'] });
      expect(seen).toMatchObject(await manifestsSeen(recorded, ['bills']));
      expect(Object.keys(seen).sort()).toEqual(recorded);
      expect(await erase(id)).toEqual({ erased: [], kept: [] });
    });

    test('loses its snapshots once no rule keeps them', async () => {
      const lake = await openLake({ location, scratch });
      const rule = { last: 1, daily: 0, monthEnds: false };
      const marts = JSON.parse(await readFile(join(location, 'latest-marts.json'), 'utf8')) as {
        snapshot_id: string;
      };
      const at = (hours: number): ReturnType<typeof retireSnapshots> =>
        retireSnapshots(lake, { rule, warehouseId, now: new Date(Date.now() + hours * 3_600_000) });
      const left = [...new Set([marts.snapshot_id, recorded.at(-1)!])].filter((id) => recorded.includes(id));
      expect(await at(0)).toEqual({ removed: [] });
      expect((await at(7)).removed).toEqual(recorded.filter((id) => !left.includes(id)));
      expect(await lake.snapshotIds()).toEqual(left.sort());
    });

    function daybook(...args: string[]): Promise<Ended> {
      return runDaybook(args, { cwd: join(scratch, '..'), env });
    }

    function exportToday(job: Partial<ExportJob> = {}): ReturnType<typeof exportNow> {
      const runId = `run-of-today-${Math.random()}`;
      return exportNow({ runId, snapshotId: snapshotId({ runId, startedAt: new Date() }), ...job });
    }

    async function renameCustomer(name: string): Promise<void> {
      await warehouse.pool.query(
        `update finance.customers set customer_name = $2
         where connection_id = $1 and id = (select min(id) from finance.customers where connection_id = $1)`,
        [connectionId, name],
      );
    }

    /** Shows the marts as the next build does. Until then the catalog leads readers of marts to the old place of the lake. */
    async function showMartsHere(): Promise<void> {
      const lake = await openLake({ location, scratch });
      const places = { databaseUrl: url, cacheFolder, scratch: join(scratch, 'iceberg') };
      await showMarts(lake, places, { add: true, marts: await currentMarts(lake) });
    }

    async function differences(from: string, to: string): Promise<unknown[]> {
      const { stdout } = await daybook('snapshots', 'diff', from, to, '--json');
      const { columns, rows: found } = JSON.parse(stdout) as {
        columns: unknown[];
        rows: { table: string }[];
      };
      expect(columns).toEqual([]);
      return found.filter(({ table }) => !ofRuns.includes(table));
    }

    async function manifestsOf(ids: readonly string[]): Promise<Record<string, Manifest>> {
      const lake = await openLake({ location, scratch });
      const read = async (id: string): Promise<[string, Manifest]> => [id, (await readManifest(lake, id))!];
      return Object.fromEntries(await Promise.all(ids.map(read)));
    }

    async function manifestsSeen(
      ids: readonly string[],
      tables?: readonly string[],
    ): Promise<Record<string, ReturnType<typeof manifestSeen>>> {
      const read = Object.entries(await manifestsOf(ids));
      return Object.fromEntries(read.map(([id, manifest]) => [id, manifestSeen(manifest, tables)]));
    }

    /** Expects that all files except those of the changed table are the same, on disk too. */
    async function expectShared(from: string, to: string): Promise<void> {
      const { [from]: one, [to]: other } = await manifestsOf([from, to]);
      const kept = Object.keys(one!.tables).filter(
        (table) => !['customers', ...alwaysWritten, ...ofRuns].includes(table),
      );
      expect(kept.length).toBeGreaterThan(15);
      for (const table of kept) {
        const files = filesOf(other!, table);
        expect([table, files]).toEqual([table, filesOf(one!, table)]);
        for (const path of Object.keys(files))
          expect([path, await inodeOf(to, path)]).toEqual([path, await inodeOf(from, path)]);
      }
      expect(filesOf(other!, 'customers')).not.toEqual(filesOf(one!, 'customers'));
    }

    async function inodeOf(id: string, path: string): Promise<number> {
      return (await stat(join(location, 'snapshots', id, path))).ino;
    }

    /** The ID of a bill that all of these snapshots hold. */
    async function billInAll(ids: readonly string[]): Promise<string> {
      const held = ids.map(
        (id) =>
          `select id from read_parquet('{lake}/snapshots/${id}/bills/*.parquet') where connection_id = '${connectionId}'`,
      );
      const [found] = await readParquet(location, `select min(id) as id from (${held.join(' intersect ')})`);
      return found!.id!;
    }

    async function erase(id: string): Promise<{ erased: SnapshotErased[]; kept: string[] }> {
      const settings = settingsOf(env);
      const kept: string[] = [];
      const erased = await eraseFromLake(
        { settings: { ...settings, marts: { ...settings.marts, cacheFolder } }, warehouse },
        { connectionId, resource: bills, id },
        {
          updateDependents: () => Promise.resolve(),
          onKept: ({ message }) => kept.push(message),
        },
      );
      return { erased, kept };
    }

    async function filesWith(id: string): Promise<unknown[]> {
      const all = [
        ['snapshots/*/bills', 'id'],
        ['snapshots/*/bill_lines', 'bill_id'],
        ['iceberg/finance/bills/data', 'id'],
        ['iceberg/finance/bill_lines/data', 'bill_id'],
      ].map(
        ([folder, column]) =>
          `select filename from read_parquet('{lake}/${folder}/*.parquet', filename = true) where ${column} = '${id}'`,
      );
      return readParquet(location, all.join(' union all '));
    }
  },
);

/** The row of a table that the release did not have, and that states what was known before. Nothing else has changed. */
const rowsSince: Readonly<Record<string, { connection_id: string; table: string }>> = {
  'v0.5.0': { connection_id: 'acme-us', table: 'unfit_values' },
  'v0.6.0': { connection_id: 'acme-odd', table: 'field_issues' },
};

/** Tables about runs, which are not in `finance`. */
const ofRuns = ['runs', 'streams', 'connections', 'stream_months'];

/** Tables whose changes only their rows show. */
const alwaysWritten = ['subscription_item_versions'];

/** The files of a table with their SHA-256. */
function filesOf({ tables }: Manifest, table: string): Record<string, string> {
  return Object.fromEntries((tables[table]?.files ?? []).map(({ path, sha256 }) => [path, sha256]));
}
