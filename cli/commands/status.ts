import { Command } from 'commander';
import { openHome } from '../../embedded/home.ts';
import { readRuntimeFile } from '../../embedded/runtime-file.ts';
import { readOpenAlerts, type Alert } from '../../warehouse/alerts/read-alerts.ts';
import { readDemand, type ApiDemand } from '../../warehouse/connections/read-demand.ts';
import { readKeptData } from '../../warehouse/connections/kept-data.ts';
import { listRemovals } from '../../warehouse/connections/list-removals.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { readApiSilence } from '../../warehouse/api-budget/read-api-silence.ts';
import { readMartsStatus, type MartsStatus } from '../../warehouse/marts/read-marts-status.ts';
import { listReaders, type ReaderListed } from '../../warehouse/readers/list-readers.ts';
import { readSnapshotStatus, type SnapshotStatus } from '../../warehouse/snapshots/read-snapshot-status.ts';
import type { ConnectionReport } from '../../operations/connection-reports.ts';
import { budgetWarning, silenceInWords } from '../../operations/demand-words.ts';
import type { OwnershipRead } from '../../operations/ownership/read-ownership.ts';
import type { Settings } from '../../config/settings.ts';
import { exitCodes, type SetExitCode } from '../exit-codes.ts';
import { print, printJson, shown } from '../printer.ts';
import { readConnectionReports, readFirstReports } from '../read-connection-reports.ts';
import { readNamespaceOwner } from '../read-namespace-owner.ts';
import { readConfig } from '../settings.ts';
import { withWarehouse } from '../with-warehouse.ts';
import { keptLines } from './connection/kept-lines.ts';
import { removalLines } from './connection/removal-lines.ts';
import { publicationLines } from './status/publication-lines.ts';
import { alertLine, showConnection } from './status/show-connection.ts';
import { withoutPassword } from '../without-password.ts';

export function statusCommand(setExitCode: SetExitCode): Command {
  return new Command('status')
    .description(
      'Show how fresh each connection is, and where everything runs. Exits with 3 if any is stale.',
    )
    .argument('[name]', 'one connection only')
    .option('--all', `all connections, not just the ${mostShown} that most need attention`)
    .option('--json', 'print JSON, for every connection')
    .addHelpText('after', '\nExample:\n  $ npx daybook status acme-us')
    .action(async (name: string | undefined, { all, json }: { all?: true; json?: true }) => {
      await withWarehouse(async (warehouse, settings) => {
        const { connections, stale, left } =
          name === undefined && json === undefined
            ? await reportFirst({ warehouse, settings }, { limit: all === true ? 2 ** 31 - 1 : mostShown })
            : await reportAll({ warehouse, settings }, name);
        const places = await readPlaces(settings);
        const ownership = await readNamespaceOwner({ warehouse, settings });
        const alerts = await readOpenAlerts(warehouse, name);
        const kept = name === undefined ? await readKeptData(warehouse) : [];
        const removals = name === undefined ? await listRemovals(warehouse) : [];
        const readers = readersByConnection(await listReaders(warehouse));
        const published = {
          snapshot: await readSnapshotStatus(warehouse),
          marts: await readMartsStatus(warehouse),
          api_demand: await readDemand(warehouse, settings.api),
          api_silent_until: await readApiSilence(warehouse, settings.api),
        };
        if (json === true)
          printJson({
            ...inJson(places, ownership),
            ...published,
            alerts,
            connections: connections.map((one) => ({
              connection_id: one.name,
              ...one,
              readers: readers.get(one.name) ?? [],
            })),
            kept_data: kept,
            being_removed: removals.map(({ connectionId, since }) => ({
              connection_id: connectionId,
              since,
            })),
          });
        else {
          const around = { ...places, ...published, trouble: ownership?.trouble ?? null };
          show(around, { connections, alerts, readers });
          if (left !== '') print(`\n${left}`);
          for (const line of [...removalLines(removals), ...keptLines(kept)]) print(`\n${line}`);
        }
        if (stale) setExitCode(exitCodes.partly);
      });
    });
}

/** A longer list would be hard to read in a terminal. */
const mostShown = 20;

interface Reported {
  readonly connections: readonly ConnectionReport[];
  /** Whether any connection is stale, shown or not. */
  readonly stale: boolean;
  /** A sentence about the connections that are not shown; empty if there are none. */
  readonly left: string;
}

async function reportAll(
  places: { warehouse: Warehouse; settings: Settings },
  name: string | undefined,
): Promise<Reported> {
  const connections = await readConnectionReports(places, name);
  return { connections, stale: connections.some(({ stale }) => stale), left: '' };
}

async function reportFirst(
  places: { warehouse: Warehouse; settings: Settings },
  { limit }: { limit: number },
): Promise<Reported> {
  const { connections, ranking } = await readFirstReports(places, { limit });
  const { connections: all, counts } = ranking;
  const hidden = all - connections.length;
  const needy = Math.max(0, counts['needs you'] - connections.length);
  return {
    connections,
    stale: counts.stale > 0,
    left:
      hidden <= 0
        ? ''
        : `${shown(hidden)} more ${hidden === 1 ? 'connection is' : 'connections are'} not shown, ` +
          `${needy === 0 ? 'none' : shown(needy)} of which ${needy > 1 ? 'need' : 'needs'} attention. ` +
          '"daybook status NAME" shows one, "daybook status --all" shows all.',
  };
}

interface Places {
  temporal: { address: string | null; ui: string | null };
  database: { url: string };
  http: string | null;
}

/** The owner is null if Temporal does not answer, or if nobody owns the namespace. */
function inJson(places: Places, ownership: OwnershipRead | undefined): Record<keyof Places, unknown> {
  const { owner = null, trouble = null } = ownership ?? {};
  return { ...places, temporal: { ...places.temporal, owner, trouble } };
}

interface Published {
  snapshot: SnapshotStatus;
  marts: MartsStatus;
  api_demand: ApiDemand;
  api_silent_until: Date | null;
}

async function readPlaces({ temporal, database }: Settings): Promise<Places> {
  const runtime = await readRuntimeFile(await openHome(readConfig().home));
  const { address = '' } = temporal.connection;
  return {
    temporal: { address: address === '' ? null : address, ui: temporal.ui ?? null },
    database: { url: withoutPassword(database.url) },
    http: runtime?.http?.url ?? null,
  };
}

function show(
  places: Places & Published & { trouble: string | null },
  {
    connections,
    alerts,
    readers,
  }: {
    connections: readonly ConnectionReport[];
    alerts: readonly Alert[];
    readers: ReadonlyMap<string, readonly string[]>;
  },
): void {
  print(`Temporal  ${places.temporal.ui ?? places.temporal.address ?? 'not configured'}`);
  print(`Postgres  ${places.database.url}`);
  if (places.http !== null) print(`Daybook   ${places.http}`);
  if (places.trouble !== null) print(`Not ours  ${places.trouble}`);
  for (const line of publicationLines(places)) print(line);
  const tooMuch = budgetWarning(places.api_demand);
  if (tooMuch !== undefined) print(`API budget: ${tooMuch}`);
  const silence = silenceInWords(places.api_silent_until);
  if (silence !== undefined) print(`API: ${silence}`);
  for (const alert of alerts.filter(({ connection_id }) => connection_id === null)) print(alertLine(alert));
  if (connections.length === 0) print('\nThere are no connections yet.');
  const alertsOf = new Map<string, Alert[]>();
  for (const alert of alerts) {
    const { connection_id: name } = alert;
    if (name !== null) alertsOf.set(name, [...(alertsOf.get(name) ?? []), alert]);
  }
  for (const connection of connections)
    showConnection(connection, {
      alerts: alertsOf.get(connection.name) ?? [],
      readers: readers.get(connection.name) ?? [],
    });
}

/** Returns the readers limited to some connections, by connection. */
function readersByConnection(readers: readonly ReaderListed[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { reader, connections } of readers)
    for (const name of connections) found.set(name, [...(found.get(name) ?? []), reader]);
  return found;
}
