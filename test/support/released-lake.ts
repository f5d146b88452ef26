import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';
import { loadReleased, releasedFolder, releasedVersions } from './load-released.ts';

/** The path at which the lakes were recorded. Their Iceberg tables, and the warehouses, refer to files by it. */
export const recordedLake = '/var/lib/daybook/lake';

/** The versions whose lake was recorded: 0.5.0, the last that wrote every snapshot anew and knew no Iceberg tables, and those after it. */
export const versionsWithLake: readonly string[] = releasedVersions.filter((version) =>
  existsSync(archivePath(version)),
);

/** Unpacks the lake of a version into another folder, as if it had been moved. Returns the path, which exists until the last test of the file. */
export async function unpackLake(version: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-released-lake-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  await promisify(execFile)('tar', ['-xzf', archivePath(version), '-C', folder]);
  return join(folder, 'lake');
}

/** Fills an empty database with the warehouse of the recorded lake. For 0.5.0 it is not the one of the other tests, whose lake is gone. */
export async function loadWarehouseOfLake({ version, url }: { version: string; url: string }): Promise<void> {
  const own = 'lake-database.sql.gz';
  await loadReleased({ version, url, ...(existsSync(join(releasedFolder, version, own)) && { dump: own }) });
}

function archivePath(version: string): string {
  return join(releasedFolder, version, 'lake.tar.gz');
}
