import { queryAsReader } from '../warehouse/query-as-reader.ts';
import { addConnection } from '../warehouse/connections/add-connection.ts';
import { listConnections } from '../warehouse/connections/list-connections.ts';
import { openWarehouse, type Warehouse } from '../warehouse/open-warehouse.ts';
import { checkSecretKey } from '../warehouse/secrets/check-secret-key.ts';
import { connectTemporal } from '../worker/temporal-client.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { followRun } from './follow-run.ts';
import { print, printAside, printTable } from './printer.ts';
import { readConfig } from './settings.ts';
import { startSync } from './start-sync.ts';
import { startUp, type RunningUp } from './start-up.ts';
import { untilStopped } from './until-stopped.ts';
import { withoutPassword } from './without-password.ts';

/** The two companies of the sandbox that the tour copies. */
const shownConnections = ['acme-us', 'acme-eu'];

/**
 * Starts everything, copies two sandbox companies, and says where to look. Run again, it goes on with the same data.
 * Keeps running until it is stopped, unless `once`.
 */
export async function tour({ once, sandbox }: { once: boolean; sandbox: boolean }): Promise<ExitCode> {
  const stopped = untilStopped();
  const up = await startUp(readConfig(), {
    sandbox,
    sandboxOptions: {},
    onStep: (text) => {
      printAside(`  ${text}`);
    },
  });
  try {
    const walked = walk(up);
    const exitCode = await Promise.race([
      walked,
      stopped.then(() => exitCodes.failed),
      up.failed.then(() => exitCodes.failed),
    ]);
    if (once || exitCode === exitCodes.failed) return exitCode;
    print('\nRunning. Stop with Ctrl-C.');
    await Promise.race([stopped, up.failed]);
    return exitCode;
  } finally {
    printAside('Stopping …');
    await up.stop();
  }
}

async function walk(up: RunningUp): Promise<ExitCode> {
  const { settings } = up;
  const warehouse = openWarehouse({ ...settings.database, connections: 2 });
  const client = await connectTemporal(settings);
  try {
    await addMissing(warehouse, up);
    let worst: ExitCode = exitCodes.done;
    for (const connection of shownConnections) {
      print(`\nSync of ${connection}`);
      const started = await startSync({ client, warehouse, settings }, { connection, resources: [] });
      const { exitCode } = await followRun({ client, warehouse }, { ...started, quiet: false });
      if (exitCode !== exitCodes.done) worst = exitCode;
    }
    await summarise(warehouse, up);
    return worst;
  } finally {
    await Promise.all([client.connection.close(), warehouse.close()]);
  }
}

async function addMissing(warehouse: Warehouse, { settings, sandbox }: RunningUp): Promise<void> {
  await checkSecretKey(warehouse, settings.secretKey);
  const there = new Set((await listConnections(warehouse)).map(({ connection_id }) => connection_id));
  for (const { name, platform, accessToken } of sandbox?.connections ?? []) {
    if (!shownConnections.includes(name) || there.has(name)) continue;
    await addConnection(warehouse, settings.secretKey, {
      connectionId: name,
      apiAddress: settings.api.address,
      token: accessToken,
      expandPlatformData: false,
    });
    print(`Added the connection ${name} (${platform}).`);
  }
}

async function summarise(warehouse: Warehouse, { settings, httpUrl }: RunningUp): Promise<void> {
  print('\nWhat is in Postgres now');
  const { columns, rows } = await queryAsReader(warehouse, countsQuery);
  printTable(columns, rows);
  print('\nWhere to look');
  printTable(
    [],
    [
      ['Temporal Web UI', settings.temporal.ui ?? settings.temporal.connection.address],
      ['Daybook', `${httpUrl}/readyz, ${httpUrl}/metrics`],
      ['Postgres', withoutPassword(settings.database.url)],
    ],
  );
  print('\nThree queries to try, in another terminal');
  for (const query of queriesToTry) print(`  npx daybook sql "${query}"`);
}

const countsQuery = `
  select connection_id as connection,
    (select count(*) from finance.bills b where b.connection_id = c.connection_id) as bills,
    (select count(*) from finance.bill_lines l where l.connection_id = c.connection_id) as bill_lines,
    (select count(*) from finance.expenses e where e.connection_id = c.connection_id) as expenses,
    (select count(*) from finance.bill_credit_memos m where m.connection_id = c.connection_id) as credit_memos,
    (select count(*) from finance.customers r where r.connection_id = c.connection_id) as customers,
    (select count(*) from finance.items i where i.connection_id = c.connection_id) as items,
    (select count(*) from finance.subscriptions s where s.connection_id = c.connection_id) as subscriptions
  from finance.connections c
  order by 1`;

const queriesToTry = [
  'select connection_id, currency_code, count(*) as bills, sum(amount_due) as due from finance.bills group by 1, 2 order by 1, 2',
  "select vendor_id, sum(amount_due) as due from finance.bills where status in ('open', 'partially_paid') and currency_code = 'USD' group by 1 order by 2 desc limit 10",
  'select connection_id, platform, bills_last_success_at, bills_freshness from finance.connections',
];
