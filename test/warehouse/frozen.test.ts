import { expect, onTestFinished, test } from 'vitest';
import { inTransaction } from '../../warehouse/transactions/in-transaction.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openExportSession } from '../../warehouse/snapshots/open-snapshot.ts';
import { blockWrites, waitingSessions } from '../support/blocked-session.ts';
import { eventually } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';
import { startLockHolder } from '../support/lock-holder.ts';
import { proofTest } from '../support/proof-test.ts';
import { row } from '../support/rows.ts';
import { startSync } from '../support/sync.ts';

// A frozen worker does not end and is silent, and its machine keeps its connections open, as with a suspended virtual machine.
const installation = await createInstallation();
const { warehouse, databaseUrl } = installation;

test('a worker that freezes inside a transaction loses its locks', async () => {
  const connection = await installation.connect();
  const { letGo } = await blockWrites(databaseUrl, 'finance.bills');
  // Applies to sessions that begin from now on.
  await alterRole(`set idle_in_transaction_session_timeout = '5s'`);
  const worker = await installation.startWorker();
  onTestFinished(() => void process.kill(worker.pid, 'SIGCONT'));
  await startSync(installation, connection, { resources: ['bills'] });
  await waitingSessions(databaseUrl);
  process.kill(worker.pid, 'SIGSTOP');
  await letGo();
  await expect(lockPass(connection)).rejects.toThrow(/lock timeout/);
  await eventually(() => lockPass(connection));
  process.kill(worker.pid, 'SIGCONT');
  await eventually(async () => {
    const { differences } = await installation.compare(connection, { tables: ['bills', 'bill_lines'] });
    return differences.length === 0 ? true : undefined;
  }, 90);
});

proofTest('a process that freezes with the export lock loses it, and knows when it resumes', async () => {
  const frozen = startLockHolder('export', databaseUrl);
  expect(await frozen.nextLine()).toBe('held');
  frozen.signal('SIGSTOP');
  await expect(openExportSession(databaseUrl)).rejects.toThrow(/Another export/);
  const next = await eventually(() => openExportSession(databaseUrl), 40);
  frozen.signal('SIGCONT');
  frozen.ask();
  expect(await frozen.nextLine()).toBe('lost');
  await next.close();
});

test('migrate sets a timeout for frozen sessions of its role, and keeps an existing setting', async () => {
  await migrate(warehouse);
  expect(await settingsOfRole()).toEqual([
    'idle_in_transaction_session_timeout=5s',
    'jit=off',
    'search_path=pg_catalog',
  ]);
  await alterRole('reset idle_in_transaction_session_timeout');
  await migrate(warehouse);
  expect(await settingsOfRole()).toEqual([
    'idle_in_transaction_session_timeout=30s',
    'jit=off',
    'search_path=pg_catalog',
  ]);
});

/** Takes the lock that landing a page holds. */
function lockPass(connectionId: string): Promise<true> {
  return inTransaction<true>(warehouse.pool, async ({ client }) => {
    await client.query(`set local lock_timeout = '200ms'`);
    const { rowCount } = await client.query('select from sync.passes where connection_id = $1 for update', [
      connectionId,
    ]);
    expect(rowCount).toBe(1);
    return true;
  });
}

async function settingsOfRole(): Promise<unknown> {
  const { settings } = await row(
    warehouse,
    `select array(select unnest(setconfig) order by 1) as settings from pg_db_role_setting
     where setrole = current_user::regrole and setdatabase = (select oid from pg_database where datname = current_database())`,
  );
  return settings;
}

async function alterRole(change: string): Promise<void> {
  const { statement } = await row(
    warehouse,
    `select format('alter role %I in database %I ', current_user, current_database()) || $1 as statement`,
    [change],
  );
  await warehouse.pool.query(String(statement));
}
