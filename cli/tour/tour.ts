import type { Client } from '@temporalio/client';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { listConnections } from '../../warehouse/connections/list-connections.ts';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import { backfillPlan } from '../../warehouse/passes/backfill-plan.ts';
import { readDiscrepancies } from '../../warehouse/reconcile/read-discrepancies.ts';
import { startRequest } from '../../temporal/start-request.ts';
import { startExport, startRun, type RunRequest } from '../../operations/start-run.ts';
import { connectTemporal } from '../../operations/temporal-client.ts';
import { previewBackfill } from '../commands/backfill/preview-backfill.ts';
import { changeConnection } from '../change-connection.ts';
import { martsLines } from '../commands/status/publication-lines.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { followExport } from '../follow-export.ts';
import { followMarts, type MartsFollowed } from '../follow-marts.ts';
import { followRun } from '../follow-run.ts';
import { print, printAside } from '../printer.ts';
import { readConfig } from '../settings.ts';
import { startUp, type RunningUp } from '../start-up.ts';
import { untilStopped } from '../until-stopped.ts';
import {
  changeWithoutWebhooks,
  secondsUntilCopied,
  workOnBills,
  type SourceAccess,
} from './source-changes.ts';
import { printSummary } from './summary.ts';

/** The two sandbox companies that the tour copies. The source changes at the first one. */
const shownConnections = ['acme-us', 'acme-eu'] as const;
const [changing] = shownConnections;

/**
 * Starts everything, copies two sandbox companies, lets the source change, and says where to look. A second run continues with the
 * same data. Keeps running until it is stopped, unless `once`.
 */
export async function tour({ once, sandbox }: { once: boolean; sandbox: boolean }): Promise<ExitCode> {
  const stopped = untilStopped();
  const up = await startUp(readConfig(), {
    sandbox,
    takeOver: false,
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
  const guide = { up, warehouse, client };
  try {
    await addMissing(warehouse, up);
    const endings: ExitCode[] = [];
    for (const connection of shownConnections) endings.push(await runTourSync(guide, connection));
    if (up.sandbox !== undefined) endings.push(...(await followChanges(guide, up.sandbox)));
    endings.push(await runTourExport(guide));
    const marts = await buildTourMarts(guide);
    endings.push(marts.exitCode);
    await printSummary(warehouse, up, { hasMarts: marts.marts.postgres.marts > 0 });
    return endings.find((ending) => ending !== exitCodes.done) ?? exitCodes.done;
  } finally {
    await Promise.all([client.connection.close(), warehouse.close()]);
  }
}

interface Guide {
  up: RunningUp;
  warehouse: Warehouse;
  client: Client;
}

/** Shows webhooks bringing the announced changes, a sync bringing the missed ones, and a reconcile finding the rest. */
async function followChanges(guide: Guide, sandbox: NonNullable<RunningUp['sandbox']>): Promise<ExitCode[]> {
  const source: SourceAccess = { sandbox, connection: changing, credentials: guide.up.settings.api };
  await followWebhooks(guide, source);
  const { changed, vanished } = await changeWithoutWebhooks(source);
  print(
    `\nThen ${changed} records of ${changing} change while no webhook gets through, and a bill is deleted without an event:\n  ${vanished}`,
  );
  const endings = [await runTourSync(guide, changing), await runTourReconcile(guide, changing)];
  const [newest] = await readDiscrepancies(guide.warehouse, { connectionId: changing, limit: 1 });
  if (newest?.record_id === vanished)
    print(`It found that the source no longer has bill ${vanished}, and deleted it.`);
  const year = new Date().getUTCFullYear();
  const [from, to] = [`${year - 1}-01-01`, `${year}-01-01`];
  print(
    `\nPreview of a backfill: daybook backfill ${changing} --from ${from} --to ${to} --window 90d --dry-run`,
  );
  const plan = backfillPlan({ from, to, windowMilliseconds: 90 * 86_400_000, resources: [] });
  await previewBackfill({ connection: changing, plan, json: false });
  return endings;
}

async function followWebhooks({ warehouse }: Guide, source: SourceAccess): Promise<void> {
  const since = new Date();
  const bookings = await workOnBills(source);
  const { changed, entered, deleted } = bookings;
  print(
    `\nAt the source, three bills of ${changing} change, and the service sends a webhook for each:\n` +
      `  ${changed} is changed\n  ${entered} is new\n  ${deleted} is deleted`,
  );
  const seconds = await secondsUntilCopied(warehouse, { connection: changing, bookings, since });
  print(
    seconds === undefined
      ? 'After 30 s the three are not all in Postgres: see /webhooks of the console.'
      : `After ${seconds.toFixed(1)} s all three are in Postgres.`,
  );
}

function runTourSync(guide: Guide, connection: string): Promise<ExitCode> {
  print(`\nSync of ${connection}`);
  return follow(guide, startRequest('sync', { connection, reason: 'tour' }, 'people'));
}

function runTourReconcile(guide: Guide, connection: string): Promise<ExitCode> {
  print(`\nReconcile of ${connection}: every record is listed and compared`);
  return follow(guide, startRequest('reconcile', { connection, reason: 'tour' }, 'people'));
}

async function runTourExport({ up: { settings }, warehouse, client }: Guide): Promise<ExitCode> {
  print('\nExport: all tables as Parquet, of one moment');
  const started = await startExport({ client, settings }, { reason: 'tour' });
  const { exitCode } = await followExport({ client, warehouse }, started, { quiet: false });
  return exitCode;
}

async function buildTourMarts(guide: Guide): Promise<MartsFollowed> {
  print(
    '\nMarts: models of finance, built and tested on the snapshot, and copied into Postgres (the first time a minute or two)',
  );
  const followed = await followMarts(guide, { quiet: false });
  for (const line of martsLines(followed.marts)) print(line);
  return followed;
}

async function follow({ up, warehouse, client }: Guide, request: RunRequest): Promise<ExitCode> {
  const started = await startRun({ client, warehouse, settings: up.settings }, request);
  const { exitCode } = await followRun({ client, warehouse }, { ...started, quiet: false });
  return exitCode;
}

async function addMissing(warehouse: Warehouse, { settings, sandbox }: RunningUp): Promise<void> {
  const there = new Set((await listConnections(warehouse)).map(({ connection_id }) => connection_id));
  for (const { name, platform, accessToken } of sandbox?.connections ?? []) {
    if (!shownConnections.some((shown) => shown === name) || there.has(name)) continue;
    const key = await settings.secretKey();
    await changeConnection({ warehouse, settings }, { connectionId: name }, () =>
      addConnection(warehouse, key, {
        connectionId: name,
        apiAddress: settings.api.address,
        token: accessToken,
        // The vendors are named by the platform records.
        expandPlatformData: true,
        syncEvery: 15 * 60_000,
        reconcileEvery: 86_400_000,
      }),
    );
    print(`Added the connection ${name} (${platform}): synced every 15m, reconciled every 1d.`);
  }
}
