import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import { findBrokenInvariants } from './judge.ts';
import { runScenario } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';
import type { Standby } from './standby.ts';

export interface FailoverResult {
  /** The number of takeovers by a standby. */
  readonly takeovers: number;
  readonly brokenInvariants: readonly string[];
}

/**
 * Runs a scenario once without a takeover, which must succeed, and then with a takeover after each of its commits in turn.
 *
 * @param lacking the numbers of commits that the standby lacks, each in an execution of its own, from the number of commits so far
 */
export async function afterEachCommit(
  scenario: Scenario,
  {
    lacking,
    ...on
  }: { warehouse: Warehouse; standby: Standby; lacking: (commits: number) => readonly number[] },
): Promise<FailoverResult> {
  const { commits, status, differences } = await runScenario(scenario, on);
  const wrong = [...differences.afterRun, ...differences.atEnd];
  if (status !== scenario.expectedStatus || wrong.length > 0)
    throw new Error(`Without a takeover, "${scenario.name}" ends ${status}: ${wrong.join('; ')}`);
  let takeovers = 0;
  const broken: string[] = [];
  for (const after of commits.keys())
    for (const lost of new Set(lacking(after + 1))) {
      if (lost < 1 || lost > after + 1) continue;
      const takeover = { has: after + 1 - lost, after: after + 1 };
      const outcome = await runScenario(scenario, { ...on, takeover });
      if (outcome.hasTakenOver) takeovers += 1;
      const where = `Without the last ${lost} of ${after + 1} commits, in "${commits[after] ?? ''}"`;
      broken.push(...findBrokenInvariants(outcome).map((one) => `${where}: ${one}`));
    }
  return { takeovers, brokenInvariants: broken };
}
