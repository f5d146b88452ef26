import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { Settings } from '../config/settings.ts';
import { changeAndUpdateSchedules } from './change-and-update-schedules.ts';

/** Changes a connection in the database and updates its schedules to match. Throws NamespaceNotOurs and ForeignSchedule. */
export async function changeConnection<Changed>(
  places: { warehouse: Warehouse; settings: Settings },
  input: {
    connectionId: string;
    /** Also lifts pauses made in the Web UI. */
    resume?: boolean;
    /** Ends the connection's workflows, because it was removed. */
    endWorkflows?: boolean;
    /** Whether the change affects the schedules. If absent, it always does. */
    matters?: (changed: Changed) => boolean;
  },
  change: () => Promise<Changed>,
): Promise<Changed> {
  const { connectionId, resume = false, endWorkflows: ends = false, matters = () => true } = input;
  return changeAndUpdateSchedules(places, {
    change,
    matters,
    async update(temporal) {
      const { updateSchedules } = await import('../operations/schedules/update-schedules.ts');
      await updateSchedules({ warehouse: places.warehouse, temporal }, { connectionId, resume });
      if (!ends) return;
      const { endWorkflows } = await import('../operations/end-workflows.ts');
      await endWorkflows(temporal, connectionId);
    },
    later: `Temporal cannot be reached; the schedules of ${connectionId} will be updated when a worker starts.`,
  });
}
