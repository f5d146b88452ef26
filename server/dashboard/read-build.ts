import { readMartsStatus, type TargetStatus } from '../../warehouse/marts/read-marts-status.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';

/** Reads the state of the marts that Postgres shows. While the lake builds its own, a copy of those is on its way. */
export async function readBuild(warehouse: Warehouse): Promise<TargetStatus> {
  const { postgres, lake } = await readMartsStatus(warehouse);
  return lake.status === 'running' ? { ...postgres, status: lake.status } : postgres;
}
