import { codeOf } from '../../errors/code-of.ts';

/**
 * Does a transaction again that Postgres has ended because it and another one waited for each other. For commands, whose rare orders of
 * locks are not worth a rule that all others would have to keep; what runs under Temporal is tried again anyhow.
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
