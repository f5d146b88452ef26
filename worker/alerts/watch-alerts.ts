import { once } from 'node:events';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { claimDelivery } from '../../warehouse/alerts/claim-delivery.ts';
import { countOpenAlerts } from '../../warehouse/alerts/count-open-alerts.ts';
import { judgeAlerts, type TemporalState } from '../../warehouse/alerts/judge-alerts.ts';
import { readStaleConnections } from '../../warehouse/alerts/read-stale-connections.ts';
import { settleDelivery } from '../../warehouse/alerts/settle-delivery.ts';
import { takeTurn } from '../../warehouse/alerts/take-turn.ts';
import { readMartsStatus } from '../../warehouse/marts/read-marts-status.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { interruptSilentRuns } from '../../warehouse/runs/interrupt-silent-runs.ts';
import { readLastExport } from '../../warehouse/snapshots/read-last-export.ts';
import { setLastSuccesses, setOpenAlerts } from '../metrics.ts';
import { repeat } from '../repeat.ts';
import { readBacklog } from '../../operations/read-backlog.ts';
import { readStuckWorkflows } from '../../operations/stuck-workflows.ts';
import { isTemporalAway } from '../../operations/temporal-client.ts';
import { pausedSchedules } from '../../operations/schedules/paused-schedules.ts';
import { alertMessage } from './alert-message.ts';
import { createDatabaseWatch, type DatabaseWatch } from './database-watch.ts';
import { openReceiver, type Receiver } from './receiver.ts';

export interface AlertPlaces {
  readonly warehouse: Warehouse;
  readonly temporal: Client;
  /** DAYBOOK_ALERT_URL. If it is undefined, alerts are kept but not sent. */
  readonly url: string | undefined;
  readonly version: string;
}

/**
 * Keeps alerts up to date and sends them to DAYBOOK_ALERT_URL, until `stopping`. Judging, querying Temporal and sending are separate
 * loops, so a receiver that hangs delays no judgment, and a Temporal that hangs only one of a connection that looks stale, by the deadline of
 * a request. Any number of processes may watch: they take turns.
 */
export async function watchAlerts(
  places: AlertPlaces,
  options: {
    logger: Logger;
    stopping: AbortSignal;
    everyMilliseconds?: number;
    /** The watch to which other users of the database report. If absent, the function uses one of its own. */
    database?: DatabaseWatch;
  },
): Promise<void> {
  const { everyMilliseconds = 10_000, database = createDatabaseWatch(), ...common } = options;
  const known: KnownOfTemporal = {};
  const looping = [
    repeat({ ...common, everyMilliseconds, failing: 'Could not judge the alerts; retrying.' }, () =>
      judge(places, { database, known, everyMilliseconds }),
    ),
    repeat(
      {
        ...common,
        everyMilliseconds: 3 * everyMilliseconds,
        failing: 'Could not ask Temporal what stands still; retrying.',
      },
      async () => {
        [known.stuck, known.backlog] = await Promise.all([
          unlessAway(readStuckWorkflows, places, common.stopping),
          unlessAway(readBacklog, places, common.stopping),
        ]);
      },
    ),
  ];
  if (places.url === undefined) {
    await Promise.all(looping);
    return;
  }
  const sending = { receiver: openReceiver({ ...places, url: places.url, ...common }), ...common };
  // Runs more often: mostly nothing is due, and the check is one statement over a few rows.
  const often = { ...common, everyMilliseconds: everyMilliseconds / 5 };
  await Promise.all([
    ...looping,
    repeat({ ...often, failing: 'Could not send the alerts that are due; retrying.' }, () =>
      sendAlerts(places, sending),
    ),
    repeat({ ...often, failing: 'Could not send the alert about the database; retrying.' }, () =>
      sendDatabaseAlert(database, sending),
    ),
  ]);
}

/** The last answers of Temporal. */
type KnownOfTemporal = { -readonly [Key in 'stuck' | 'backlog']?: TemporalState[Key] };

async function judge(
  places: AlertPlaces,
  watch: { database: DatabaseWatch; known: KnownOfTemporal; everyMilliseconds: number },
): Promise<void> {
  const { warehouse } = places;
  const { database, known, everyMilliseconds } = watch;
  try {
    // The tolerance lets a process that comes a little early go ahead, instead of waiting a whole round.
    if (await takeTurn(warehouse, { everyMilliseconds: everyMilliseconds * 0.8 })) {
      await interruptSilentRuns(warehouse);
      await judgeAlerts(warehouse, { pausedElsewhere: await pausedElsewhere(places), ...known });
    }
    setOpenAlerts(await countOpenAlerts(warehouse));
    setLastSuccesses(await lastSuccesses(warehouse));
    database.answered();
  } catch (error) {
    database.failed(error);
    throw error;
  }
}

async function lastSuccesses(warehouse: Warehouse): Promise<Record<string, Date | null>> {
  const { postgres, lake } = await readMartsStatus(warehouse);
  return {
    export: await readLastExport(warehouse),
    marts_postgres: postgres.built_at,
    marts_lake: lake.built_at,
  };
}

/** Queries Temporal only if a connection looks stale, which is rare. If Temporal is unreachable, the connections count as stale. */
async function pausedElsewhere({ warehouse, temporal }: AlertPlaces): Promise<string[]> {
  const stale = await readStaleConnections(warehouse);
  if (stale.length === 0) return [];
  try {
    const paused = await pausedSchedules(temporal);
    return stale.filter((connection) => paused.has(connection));
  } catch (error) {
    if (isTemporalAway(error)) return [];
    throw error;
  }
}

/** Returns undefined if Temporal is unreachable, or too old to answer. */
async function unlessAway<Answer>(
  ask: (temporal: Client) => Promise<Answer>,
  { temporal }: AlertPlaces,
  stopping: AbortSignal,
): Promise<Answer | undefined> {
  // Connecting cannot be aborted together with the request, so stopping does not wait for it.
  const asked = new AbortController();
  const stopped = once(stopping, 'abort', { signal: asked.signal }).then(() => undefined);
  try {
    return await Promise.race([ask(temporal), stopped]);
  } catch (error) {
    if (isTemporalAway(error)) return undefined;
    throw error;
  } finally {
    asked.abort();
  }
}

interface Sending {
  readonly receiver: Receiver;
  readonly stopping: AbortSignal;
}

/** Sends the due alerts one after another, until one of them is not delivered. */
async function sendAlerts({ warehouse }: AlertPlaces, { receiver, stopping }: Sending): Promise<void> {
  while (!stopping.aborted) {
    const delivery = await claimDelivery(warehouse);
    if (delivery === undefined) return;
    const outcome = await receiver.send(alertMessage(delivery.alert), stopping);
    await settleDelivery(warehouse, delivery, outcome);
    if (outcome !== 'delivered') return;
  }
}

async function sendDatabaseAlert(database: DatabaseWatch, { receiver, stopping }: Sending): Promise<void> {
  const alert = database.due();
  if (alert !== undefined) database.settle(await receiver.send(alertMessage(alert), stopping));
}
