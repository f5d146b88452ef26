import { afterAll, expect, test } from 'vitest';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import { withinFiveMinutes } from '../support/eventually.ts';
import { createInstallation, type Installation } from '../support/installation.ts';
import { row } from '../support/rows.ts';
import { startReplicatedPostgres, type ReplicatedPostgres } from './replicated-postgres.ts';

const inSync = await startReplicated();
const inReconcile = await startReplicated();

test('a sync during which a standby is promoted loses nothing but time', async () => {
  const { postgres, warehouse, installation } = inSync;
  const company = await installation.connect({ records: 100 });
  await installation.startWorker();
  await postgres.startStandby();
  await slowDown(installation, company);
  const sync = await installation.client.workflow.start('syncConnection', {
    workflowId: `sync/${company}`,
    taskQueue: 'daybook',
    args: [{ connection: company, reason: 'test' }],
  });
  await untilPagesAreRead(warehouse, company);

  await postgres.failOver();
  await installation.admin.clearFaults();

  await sync.result();
  expect(await row(warehouse, 'select pg_is_in_recovery() as standby')).toEqual({ standby: false });
  expect((await installation.compare(company)).differences).toEqual([]);
  expect(await installation.run(['reconcile', company])).toMatchObject({ code: 0 });
});

test('a reconcile during which a standby is promoted fails, and the next one succeeds', async () => {
  const { postgres, warehouse, installation } = inReconcile;
  const company = await installation.connect({ records: 100 });
  await installation.startWorker();
  expect(await installation.run(['sync', company])).toMatchObject({ code: 0 });
  await postgres.startStandby();
  const { timeline: before } = await row(warehouse, 'select sync.timeline() as timeline');
  await slowDown(installation, company);
  const reconcile = installation.run(['reconcile', company]);
  await untilPagesAreRead(warehouse, company, 'reconcile');

  await postgres.failOver();
  await installation.admin.clearFaults();

  expect(await reconcile).not.toMatchObject({ code: 0 });
  const { timeline: after } = await row(warehouse, 'select sync.timeline() as timeline');
  expect(before).toEqual(expect.any(String));
  expect(after).toEqual(expect.any(String));
  expect(after).not.toBe(before);
  expect(await lastReconcile(warehouse)).toEqual({
    status: 'failed',
    timeline: before,
    failures: ['CommitsLost'],
  });

  expect(await installation.run(['reconcile', company])).toMatchObject({ code: 0 });
  expect(await lastReconcile(warehouse)).toEqual({ status: 'succeeded', timeline: after, failures: [] });
  expect((await installation.compare(company)).differences).toEqual([]);
});

/** Starts a Daybook on a Postgres that can fail over. */
async function startReplicated(): Promise<{
  postgres: ReplicatedPostgres;
  warehouse: Warehouse;
  installation: Installation;
}> {
  const postgres = await startReplicatedPostgres();
  const warehouse = openWarehouse({ url: postgres.url, connections: 2 });
  afterAll(async () => {
    await warehouse.close();
    await postgres.stop();
  });
  await migrate(warehouse);
  const installation = await createInstallation({ database: { url: postgres.url, warehouse } });
  return { postgres, warehouse, installation };
}

async function slowDown({ admin }: Installation, company: string): Promise<void> {
  await admin.configure({ maximumLimit: 5 });
  const match = { connection: company, path: '/accounting/bills' };
  await admin.addFault({ match, fault: { kind: 'slow', ms: 500 } });
}

async function untilPagesAreRead(warehouse: Warehouse, company: string, kind = 'sync'): Promise<void> {
  await withinFiveMinutes(async () => {
    const { pages } = await row(
      warehouse,
      `select coalesce(sum(s.pages), 0)::int as pages from sync.run_streams s join sync.runs r using (run_id)
       where r.connection_id = $1 and r.kind = $2 and s.stream = 'bills'`,
      [company, kind],
    );
    return Number(pages) >= 3 ? true : undefined;
  });
}

function lastReconcile(warehouse: Warehouse): Promise<Record<string, unknown>> {
  return row(
    warehouse,
    `select r.status, r.timeline,
       (select coalesce(array_agg(distinct s.failure_type) filter (where s.failure_type is not null), '{}')
        from sync.run_streams s where s.run_id = r.run_id) as failures
     from sync.runs r where r.kind = 'reconcile' order by r.started_at desc limit 1`,
  );
}
