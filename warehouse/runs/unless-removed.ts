import { codeOf } from '../../errors/code-of.ts';
import { ConnectionReplaced } from '../errors.ts';

/**
 * Runs `write`, which writes rows of a run. If the run's row or its connection is gone, the connection was removed: throws ConnectionReplaced then.
 */
export async function unlessRemoved<Result>(
  connectionId: string,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    const isGone =
      codeOf(error) === '23503' &&
      error instanceof Error &&
      'constraint' in error &&
      goneWithConnection.includes(String(error.constraint));
    throw isGone ? new ConnectionReplaced(connectionId) : error;
  }
}

const goneWithConnection = ['run_streams_run_id_fkey', 'streams_connection_id_fkey'];
