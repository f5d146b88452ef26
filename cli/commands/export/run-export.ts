import type { Client } from '@temporalio/client';
import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import { checkOwnership } from '../../../operations/ownership/check-ownership.ts';
import type { Settings } from '../../../config/settings.ts';
import type { Exported } from '../../../operations/read-heartbeat.ts';
import { startExport } from '../../../operations/start-run.ts';
import { exitCodes, type ExitCode } from '../../exit-codes.ts';
import { followExport } from '../../follow-export.ts';
import { areMartsBeingBuilt, followMarts } from '../../follow-marts.ts';
import { print, printAside, printJson } from '../../printer.ts';
import { withTemporal } from '../../with-temporal.ts';
import { withWarehouse } from '../../with-warehouse.ts';
import { martsLines } from '../status/publication-lines.ts';

export interface ExportOptions {
  /** The step that the command waits for. */
  readonly until: 'started' | 'published' | 'marts';
  /** Makes a snapshot even if nothing has changed. */
  readonly force: boolean;
  /** Also adds the snapshot to the Iceberg tables. */
  readonly iceberg: boolean;
  readonly json: boolean;
}

/** Starts or joins the export and follows it. */
export async function runExport(options: ExportOptions): Promise<ExitCode> {
  return withWarehouse(
    (warehouse, settings) =>
      withTemporal(settings, async (client) => {
        await checkOwnership({ warehouse, temporal: client, settings }, { say: printAside });
        return exportAndFollow({ client, warehouse, settings }, options);
      }),
    ['database', 'temporal'],
  );
}

interface Places {
  client: Client;
  warehouse: Warehouse;
  settings: Settings;
}

async function exportAndFollow(
  places: Places,
  { until, force, iceberg, json }: ExportOptions,
): Promise<ExitCode> {
  const start = (): ReturnType<typeof startExport> =>
    startExport(places, { reason: 'daybook export', force, iceberg });
  let started = await start();
  if ((force || iceberg) && started.joined) {
    // The running export may find nothing to do, or was started with other options; this one starts after it.
    if (!json) printAside(`An export is already running; this one starts after it: ${started.link}`);
    await followExport(places, started, { quiet: true });
    started = await start();
  }
  if (until === 'started') {
    if (json) printJson(started);
    else print(`${started.joined ? 'Already running' : 'Started'}: ${started.link}`);
    return exitCodes.done;
  }
  const { exported, run, exitCode } = await followExport(places, started, { quiet: json });
  const followed =
    exported !== undefined && until === 'marts' ? await followMarts(places, { quiet: json }) : undefined;
  const building = exported !== undefined && (await areMartsBeingBuilt(places.client));
  if (json)
    printJson({
      ...inJson(exported),
      marts_building: building,
      ...(followed && { marts: followed.marts }),
      run: run ?? null,
    });
  else if (followed !== undefined) for (const line of martsLines(followed.marts)) print(line);
  else if (building) print(martsFollow);
  return exitCode === exitCodes.done ? (followed?.exitCode ?? exitCode) : exitCode;
}

const martsFollow =
  'The marts are still being built, in Postgres and on this snapshot; until then, readers and the dashboard see the previous marts. ' +
  '"daybook export --wait" waits for them, "daybook status" shows their state.';

function inJson(exported: Exported | undefined): Record<string, unknown> {
  if (exported === undefined) return { snapshot_id: null, skipped: false };
  const { snapshotId, skipped, tables, rows, bytes, unfit, takenAt, damage = null } = exported;
  const { icebergTables = null } = exported;
  return {
    snapshot_id: snapshotId,
    skipped,
    damage,
    taken_at: takenAt,
    tables,
    rows,
    bytes,
    unfit,
    iceberg_tables: icebergTables,
  };
}
