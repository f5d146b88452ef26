import { log } from '@temporalio/activity';
import { reasonOf } from '../errors/reason-of.ts';
import type { Dependencies } from './dependencies.ts';

/** The database is up to date in any case; schedules that cannot be changed now are repaired when a worker starts. */
export async function updateSchedules(
  { schedules }: Pick<Dependencies, 'schedules'>,
  connection: string,
): Promise<void> {
  try {
    await schedules.update(connection);
  } catch (error) {
    const reason = reasonOf(error);
    log.warn('The schedules of a connection could not be changed; they are repaired when a worker starts.', {
      connection,
      reason,
    });
  }
}
