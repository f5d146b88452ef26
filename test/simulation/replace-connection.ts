import { ConnectionExists } from '../../warehouse/connections/add-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { UnknownConnection } from '../../warehouse/errors.ts';
import { noteRemoval } from './apply-change.ts';
import { addConnectionWithToken, type Company } from './company.ts';
import { neverNamesCompany } from './history.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { InvariantViolation } from './invariant-checker.ts';

/**
 * Removes a connection, keeps its data, and adds it again, while runs for it continue. It takes turns with them statement by statement. If
 * its process is killed, another one continues where it was.
 */
export async function replaceConnection(
  company: Company,
  getProcess: (slot: string) => SimulatedProcess,
): Promise<void> {
  if (company.token !== 'own' || neverNamesCompany(company.history)) return;
  const { connection, harness } = company;
  for (const run of await readRunIds(company)) company.removedRuns.add(run);
  noteRemoval(company);
  for (let attempt = 1; ; attempt += 1) {
    const process = getProcess('person');
    const warehouse = process.warehouse(harness.warehouse.pool, `replacement/${connection} 1 ${attempt}`);
    try {
      await ignoreError(UnknownConnection, () =>
        removeConnection(warehouse, { connectionId: connection, keepData: true }),
      );
      await ignoreError(ConnectionExists, () => addConnectionWithToken(company, connection, warehouse));
      company.token = 'own';
      return;
    } catch (error) {
      if (!process.isDead()) throw error;
    }
  }
}

async function readRunIds({ harness, connection }: Company): Promise<string[]> {
  const { rows } = await harness.watcher.query<{ run_id: string }>(
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
  for (const run of await readRunIds(company))
    if (removed.has(run))
      throw new InvariantViolation(
        `${run} goes on, and its connection was removed; another one has the name.`,
      );
}

/** Ignores the error that says that an earlier attempt has done the work. */
async function ignoreError(
  done: new (...given: never[]) => Error,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof done)) throw error;
  }
}
