import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { makeSnapshot } from '../../activities/export/make-snapshot.ts';
import type { Exported, ExportJob, ExportProgress } from '../../activities/export/export-job.ts';
import type { LakeOwner } from '../../lake/own-lake.ts';
import { snapshotId } from '../../lake/manifest/snapshot-id.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';

export interface TestLake {
  readonly location: string;
  readonly scratch: string;
  /** The owner of the lake, according to the manifests alone. */
  readonly owner: LakeOwner;
  /** Exports as the process of an export does. Every call is a run of its own unless it names one. */
  readonly exportNow: (
    job?: Partial<ExportJob>,
    onProgress?: (progress: ExportProgress) => void,
  ) => Promise<Exported>;
  /** The job of one export. */
  readonly jobOf: (job?: Partial<ExportJob>) => ExportJob;
}

/** The id of the warehouse of test lakes, unless they set another. */
export const testWarehouseId = 'the-warehouse';

/** A lake in a folder that is removed after the last test of the file. The product uses it as the same warehouse. */
export async function createTestLake(
  databaseUrl: string,
  options: Partial<ExportJob> = {},
): Promise<TestLake> {
  await nameWarehouse(databaseUrl, options.warehouseId ?? testWarehouseId);
  const folder = await mkdtemp(join(tmpdir(), 'daybook-test-lake-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const location = options.lake ?? join(folder, 'lake');
  const scratch = join(folder, 'scratch');
  let runs = 0;
  const jobOf = (job: Partial<ExportJob> = {}): ExportJob => {
    runs += 1;
    const runId = job.runId ?? `run-${randomBytes(4).toString('hex')}`;
    return {
      databaseUrl,
      databaseConnections: 3,
      lake: location,
      scratch,
      keep: { last: 7, daily: 30, monthEnds: true },
      productVersion: '0.0.0-test',
      warehouseId: testWarehouseId,
      runId,
      // A second apart, which gives them an order.
      snapshotId: snapshotId({ runId, startedAt: new Date(Date.UTC(2026, 10, 21, 12, 0, runs)) }),
      ...options,
      ...job,
    };
  };
  const warehouseId = options.warehouseId ?? testWarehouseId;
  return {
    location,
    scratch,
    owner: { warehouseId, hasNoted: () => Promise.resolve(false) },
    jobOf,
    exportNow: (job, onProgress = () => undefined) => makeSnapshot(jobOf(job), onProgress),
  };
}

async function nameWarehouse(databaseUrl: string, id: string): Promise<void> {
  const warehouse = openWarehouse({ url: databaseUrl, connections: 1 });
  await warehouse.pool.query(
    `insert into sync.settings values ('warehouse_id', $1) on conflict (name) do update set value = excluded.value`,
    [id],
  );
  await warehouse.close();
}
