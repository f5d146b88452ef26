import { codeOf } from '../../errors/code-of.ts';
import { ConnectionReplaced } from '../errors.ts';

/** What a run writes of a stream: a run whose row is gone was that of a connection that was removed. Throws ConnectionReplaced then. */
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
      error.constraint === 'run_streams_run_id_fkey';
    throw isGone ? new ConnectionReplaced(connectionId) : error;
  }
}
