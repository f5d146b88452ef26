import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { showsColumns, columnTypes } from '../../activities/export/shows-columns.ts';
import { sha256Of, tableOfFiles, type Manifest } from '../../lake/manifest/manifest.ts';
import { snapshotTables } from '../../warehouse/snapshots/snapshot-tables.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';

test('a snapshot that lacks a column, or has it with another type, does not show the current columns', () => {
  const described = snapshotTables.map(
    (table) => [table.name, tableOfFiles(columnTypes(table), [])] as const,
  );
  const tables = Object.fromEntries(described);
  const [first, ...others] = snapshotTables;
  const { columns } = first!;
  const more = { ...first!, columns: [...columns, { ...columns[0]!, name: 'approval_reference' }] };
  const other = { ...first!, columns: columns.map((column) => ({ ...column, parquet: 'BIGINT' as const })) };
  expect(showsColumns({ tables })).toBe(true);
  for (const table of [more, other]) expect(showsColumns({ tables }, [table, ...others])).toBe(false);
});

test('an export after an update that adds a column makes a snapshot although no row has changed', async () => {
  const { url } = await createTestDatabase();
  const { exportNow, location } = await createTestLake(url);
  const { snapshotId } = await exportNow();
  const pointer = join(location, 'latest.json');
  const file = join(location, 'snapshots', snapshotId, '_manifest.json');
  const manifest = JSON.parse(await readFile(file, 'utf8')) as Manifest;
  const columns = Object.fromEntries(
    Object.entries(manifest.tables.bills!.columns).filter(([name]) => name !== 'memo'),
  );
  const tables = { ...manifest.tables, bills: { ...manifest.tables.bills!, columns } };
  const before = `${JSON.stringify({ ...manifest, tables }, null, 2)}\n`;
  await writeFile(file, before);
  const named = JSON.parse(await readFile(pointer, 'utf8')) as Record<string, string>;
  await writeFile(pointer, JSON.stringify({ ...named, manifest_sha256: sha256Of(before) }));
  const exported = await exportNow();
  expect(exported.skipped).toBe(false);
  expect(exported.damage).toBeUndefined();
  expect(await exportNow()).toMatchObject({ skipped: true, snapshotId: exported.snapshotId });
});
