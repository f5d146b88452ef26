import { followConnection } from '../../../operations/schedules/follow-connection.ts';
import { isTemporalAway } from '../../../operations/temporal-client.ts';
import type { ConsoleParts } from '../console-parts.ts';

/** Brings the schedules to what was just written; without Temporal they follow later, which the sentence returned says. */
export async function followSchedules(
  { warehouse, temporal }: ConsoleParts,
  input: { connectionId: string; resume?: boolean },
): Promise<string> {
  try {
    await followConnection({ warehouse, temporal }, input);
    return '';
  } catch (error) {
    if (!isTemporalAway(error)) throw error;
    return ' Temporal does not answer: the schedules follow when a worker starts.';
  }
}
