import { beginTimeline } from '../support/losing-commits.ts';
import type { Company } from './company.ts';
import type { Harness } from './harness.ts';
import { InvariantViolation } from './invariant-checker.ts';

/** Promotes a standby. It is on another timeline, and runs that began on the previous one must not continue. */
export async function promoteStandby({ warehouse }: Harness, companies: readonly Company[]): Promise<void> {
  await beginTimeline(warehouse);
  for (const { connection, openAtFailover } of companies) {
    const { rows } = await warehouse.pool.query<{ run_id: string }>(
      `select run_id from sync.runs where connection_id = $1 and kind <> 'sync' and status = 'running'`,
      [connection],
    );
    for (const { run_id } of rows) openAtFailover.add(run_id);
  }
}

export async function judgeRunsAcrossFailover({ harness, openAtFailover }: Company): Promise<void> {
  const { rows } = await harness.warehouse.pool.query<{ kind: string }>(
    `select kind from sync.runs where run_id = any($1::text[]) and status = 'succeeded'`,
    [[...openAtFailover]],
  );
  const [succeeded] = rows;
  if (succeeded !== undefined)
    throw new InvariantViolation(`A ${succeeded.kind} went on past a failover, and says that it succeeded.`);
}
