import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';
import { row } from '../support/rows.ts';
import { backfill, endOf, startBackfill } from './run-backfill.ts';

const installation = await createInstallation();
const { admin, warehouse } = installation;
await installation.startWorker();

test('two backfills of one connection run side by side, and each is done in the ledger', async () => {
  const connection = await installation.connect();
  await admin.addFault({
    match: { connection, path: '/accounting/bills' },
    fault: { kind: 'slow', ms: 2_000 },
  });
  const first = await startBackfill(installation, { connection, from: '2011-03-01', to: '2011-06-01' });
  await eventually(async () => {
    const { left } = await row(
      warehouse,
      `select count(distinct stream) as left from sync.passes where connection_id = $1`,
      [connection],
    );
    return left === 1 ? true : undefined;
  });
  const other = await backfill(installation, { connection, from: '2011-01-01', to: '2011-02-01' });
  await admin.clearFaults();
  const ended = await endOf(installation, first);
  expect([other.run.status, ended.run.status]).toEqual(['succeeded', 'succeeded']);
});
