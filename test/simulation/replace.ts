import { ConnectionExists } from '../../warehouse/connections/add-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { UnknownConnection } from '../../warehouse/errors.ts';
import { add, noteRemoval } from './befall.ts';
import type { Company } from './company.ts';
import { namesNobody } from './history.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { BrokenPromise } from './watch.ts';

/**
 * Removes a connection with its data kept, and adds it again, while whatever is under way for it goes on: one statement at a time, like all
 * that others do. A process that is killed is followed by another one, which goes on where it was.
 */
export async function replace(
  company: Company,
  processOf: (slot: string) => SimulatedProcess,
): Promise<void> {
  if (company.token !== 'own' || namesNobody(company.history)) return;
  const { connection, stage } = company;
  for (const run of await runsOf(company)) company.removedRuns.add(run);
  noteRemoval(company);
  for (let attempt = 1; ; attempt += 1) {
    const process = processOf('person');
    const warehouse = process.warehouse(stage.warehouse.pool, `replacement/${connection} 1 ${attempt}`);
    try {
      await unless(UnknownConnection, () =>
        removeConnection(warehouse, { connectionId: connection, keepData: true }),
      );
      await unless(ConnectionExists, () => add(company, connection, warehouse));
      company.token = 'own';
      return;
    } catch (error) {
      if (!process.isDead()) throw error;
    }
  }
}

async function runsOf({ stage, connection }: Company): Promise<string[]> {
  const { rows } = await stage.watcher.query<{ run_id: string }>(
    'select run_id from sync.runs where connection_id = $1',
    [connection],
  );
  return rows.map(({ run_id }) => run_id);
}

/** What was begun for a connection that was removed is none of the next one's, which has its name. */
export async function judgeReplaced(company: Company): Promise<void> {
  if (company.token === 'none') return;
  // A removal may begin while this looks.
  const removed = new Set(company.removedRuns);
  for (const run of await runsOf(company))
    if (removed.has(run))
      throw new BrokenPromise(`${run} goes on, and its connection was removed; another one has the name.`);
}

/** An attempt before has done it. */
async function unless(done: new (...given: never[]) => Error, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof done)) throw error;
  }
}
