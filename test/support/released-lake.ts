import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';
import { releasedFolder, releasedVersions } from './load-released.ts';

/** The path at which the lakes were recorded. Their Iceberg tables, and the warehouses, refer to files by it. */
export const recordedLake = '/var/lib/daybook/lake';

/** The versions that have recorded a lake; 0.6.0 was the first. */
export const versionsWithLake: readonly string[] = releasedVersions.filter((version) =>
  existsSync(archiveOf(version)),
);

/** Unpacks the lake of a version into another folder, as if it had been moved. Returns the path, which exists until the last test of the file. */
export async function unpackLake(version: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-released-lake-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  await promisify(execFile)('tar', ['-xzf', archiveOf(version), '-C', folder]);
  return join(folder, 'lake');
}

function archiveOf(version: string): string {
  return join(releasedFolder, version, 'lake.tar.gz');
}
