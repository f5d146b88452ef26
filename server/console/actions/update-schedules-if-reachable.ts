import { updateSchedules } from '../../../operations/schedules/update-schedules.ts';
import { isTemporalAway } from '../../../operations/temporal-client.ts';
import type { ConsoleParts } from '../console-parts.ts';

/** Updates the schedules to match what was just written. If Temporal is away, they are updated later, and the returned sentence says so. */
export async function updateSchedulesIfReachable(
  { warehouse, temporal }: ConsoleParts,
  input: { connectionId: string; resume?: boolean },
): Promise<string> {
  try {
    await updateSchedules({ warehouse, temporal }, input);
    return '';
  } catch (error) {
    if (!isTemporalAway(error)) throw error;
    return ' Temporal does not answer; the schedules will be updated when a worker starts.';
  }
}
