import { beginTimeline } from '../support/losing-commits.ts';
import type { Company } from './company.ts';
import type { Stage } from './stage.ts';
import { BrokenPromise } from './watch.ts';

/** Promotes a standby. It is on another timeline, and runs that began on the previous one must not continue. */
export async function takeOver({ warehouse }: Stage, companies: readonly Company[]): Promise<void> {
  await beginTimeline(warehouse);
  for (const { connection, outlived } of companies) {
    const { rows } = await warehouse.pool.query<{ run_id: string }>(
      `select run_id from sync.runs where connection_id = $1 and kind <> 'sync' and status = 'running'`,
      [connection],
    );
    for (const { run_id } of rows) outlived.add(run_id);
  }
}

export async function judgeOutlived({ stage, outlived }: Company): Promise<void> {
  const { rows } = await stage.warehouse.pool.query<{ kind: string }>(
    `select kind from sync.runs where run_id = any($1::text[]) and status = 'succeeded'`,
    [[...outlived]],
  );
  const [succeeded] = rows;
  if (succeeded !== undefined)
    throw new BrokenPromise(`A ${succeeded.kind} went on past a failover, and says that it succeeded.`);
}
