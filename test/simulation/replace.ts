import { ConnectionExists } from '../../warehouse/connections/add-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { UnknownConnection } from '../../warehouse/errors.ts';
import { add, noteRemoval } from './befall.ts';
import type { Company } from './company.ts';
import { namesNobody } from './history.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { BrokenPromise } from './watch.ts';

/**
 * Removes a connection, keeps its data, and adds it again, while runs for it continue. It takes turns with them statement by statement. If
 * its process is killed, another one continues where it was.
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

/** Judges that runs begun for a removed connection do not continue under its successor of the same name. */
export async function judgeReplaced(company: Company): Promise<void> {
  if (company.token === 'none') return;
  // A removal may begin during this check.
  const removed = new Set(company.removedRuns);
  for (const run of await runsOf(company))
    if (removed.has(run))
      throw new BrokenPromise(`${run} goes on, and its connection was removed; another one has the name.`);
}

/** Ignores the error that says that an earlier attempt has done the work. */
async function unless(done: new (...given: never[]) => Error, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof done)) throw error;
  }
}
