import { codeOf } from '../../errors/code-of.ts';

/**
 * Retries a transaction that Postgres has ended because of a deadlock. For commands, whose rare lock orders are not worth a rule that all others
 * would have to keep; work under Temporal is retried anyhow.
 */
export async function retryDeadlocks<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let left = 20; ; left -= 1) {
    try {
      return await transaction();
    } catch (error) {
      if (codeOf(error) !== '40P01' || left === 0) throw error;
    }
  }
}
