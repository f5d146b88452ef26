import { setTimeout as wait } from 'node:timers/promises';
import { createChance } from '../../day/chance.ts';
import { mostWithin } from '../../day/judge-requests.ts';
import { untilWebhooksAreApplied } from '../../day/until-webhooks-are-applied.ts';
import type { TestServers } from '../../support/own-servers.ts';
import { judgeFleet } from './judge-fleet.ts';
import { createFleetFaults } from './fleet-faults.ts';
import { measureAges, notReadSince, measureSizes, type Ages, type Sizes } from './measure-fleet.ts';
import { openFleet, processCount, hasDeletionEvents, type Fleet, type FleetOptions } from './open-fleet.ts';

export interface HourOptions extends FleetOptions {
  /** The length in minutes, after the first loads. */
  readonly minutes: number;
  /** How long Temporal is down, in the middle. */
  readonly temporalAwayMinutes: number;
}

export interface Hour {
  readonly connections: number;
  readonly minutes: number;
  readonly firstLoadsSeconds: number;
  /** The number of runs, by kind and status: `sync succeeded`. */
  readonly runs: Readonly<Record<string, number>>;
  readonly changed: number;
  readonly webhooks: number;
  readonly kills: number;
  /** The largest value of each age over the hour, measured every minute. */
  readonly worstAges: Ages;
  readonly worstAgesWithoutTemporal: Ages;
  readonly mostRequestsPer10s: number;
  /** The number of requests that the service refused because there were too many. */
  readonly refused: number;
  readonly sizes: Sizes;
  readonly settledSeconds: number;
  readonly records: number;
  readonly values: number;
  /** The broken promises, in sentences. Empty after a good hour. */
  readonly complaints: readonly string[];
}

/**
 * Runs an hour of many small companies with a schedule each. After all are loaded, a tenth of them change during the hour, webhooks get
 * lost or come twice or late, processes are killed every five minutes, and Temporal is down for a while. Then everything must match the
 * source.
 */
export async function runHour(
  servers: TestServers,
  options: HourOptions,
  report: (progress: string) => void,
): Promise<Hour> {
  const began = performance.now();
  const fleet = await openFleet(servers, options, report);
  const secondsSince = (moment: number): number => Math.round((performance.now() - moment) / 1_000);
  try {
    const loading = performance.now();
    report(`All are added after ${secondsSince(began)} s; the first loads begin`);
    await untilAllSynced(fleet, new Date(0), report);
    const firstLoadsSeconds = secondsSince(loading);
    report(`All are loaded after ${firstLoadsSeconds} s`);
    const workloadResult = await runWorkloadWithFaults(fleet, options, report);
    const settling = performance.now();
    await untilAllSynced(fleet, new Date(), report);
    await untilWebhooksAreApplied(fleet, { seconds: 600 });
    const settledSeconds = secondsSince(settling);
    const sizes = await measureSizes(fleet);
    const ended = await fleet.processes.stop();
    report('Comparing each with its source');
    const { records, values, complaints } = await judgeFleet(fleet, options, report);
    return {
      ...{ connections: options.connections, minutes: options.minutes, firstLoadsSeconds, settledSeconds },
      ...workloadResult,
      runs: await countRuns(fleet),
      webhooks: (await fleet.admin.deliveries()).total,
      kills: fleet.processes.kills(),
      ...{ sizes, records, values, complaints: [...ended, ...complaints] },
    };
  } finally {
    await fleet.processes.stop();
    await fleet.sandbox.close();
  }
}

type WorkloadResult = Pick<
  Hour,
  'changed' | 'worstAges' | 'worstAgesWithoutTemporal' | 'mostRequestsPer10s' | 'refused'
>;

async function runWorkloadWithFaults(
  fleet: Fleet,
  options: HourOptions,
  report: (progress: string) => void,
): Promise<WorkloadResult> {
  const { minutes, temporalAwayMinutes, seed } = options;
  const chance = createChance(`fleet/${seed}`);
  const changing = chance.pickSome(fleet.names, Math.ceil(fleet.names.length / 10));
  const worst = { before: noAges, after: noAges };
  let changed = 0;
  let mostRequestsPer10s = 0;
  let refused = 0;
  let away: Promise<void> | undefined;
  const faults = options.misfortunes ? createFleetFaults(fleet, options, report) : undefined;
  await fleet.admin.clearRequests();
  const began = performance.now();
  for (let minute = 0; minute < minutes; minute += 1) {
    const due = changing.slice(
      ...[minute, minute + 1].map((of) => Math.floor((of * changing.length) / minutes)),
    );
    for (const name of due) {
      await change(fleet, name, seed + minute);
      changed += 1;
    }
    await faults?.injectAt(minute);
    if (minute % 5 === 4) fleet.processes.kill(chance.below(processCount));
    if (minute === Math.floor(minutes / 2) && temporalAwayMinutes > 0)
      away = fleet.interruptTemporal?.(temporalAwayMinutes * 60);
    await wait(Math.max(0, began + (minute + 1) * 60_000 - performance.now()));
    const requests = await fleet.admin.requests();
    await fleet.admin.clearRequests();
    mostRequestsPer10s = Math.max(mostRequestsPer10s, mostWithin(10_000, requests));
    refused += requests.filter(({ status }) => status === 429).length;
    const ages = await measureAges(fleet, { except: faults?.affected ?? [] });
    const when = away === undefined ? 'before' : 'after';
    worst[when] = maxAges(worst[when], ages);
    report(
      `minute ${minute}: complete ${String(ages.median)} s ago (median), ${String(ages.p95)} (p95), ${String(ages.oldest)} (oldest); ` +
        `${requests.length} requests, ${changed} companies changed, ${fleet.processes.kills()} kills`,
    );
  }
  await away;
  await faults?.end();
  return {
    changed,
    mostRequestsPer10s,
    refused,
    worstAges: worst.before,
    worstAgesWithoutTemporal: worst.after,
  };
}

const noAges: Ages = { median: 0, p95: 0, oldest: 0 };

function maxAges(one: Ages, other: Ages): Ages {
  const older = (left: number | null, right: number | null): number | null =>
    left === null || right === null ? null : Math.max(left, right);
  return {
    median: older(one.median, other.median),
    p95: older(one.p95, other.p95),
    oldest: older(one.oldest, other.oldest),
  };
}

async function change({ admin }: Fleet, connection: string, seed: number): Promise<void> {
  await admin.activity({ connection, seed, changes: 1, touches: 1 });
  if (hasDeletionEvents(connection))
    await admin.activity({ connection, seed: seed + 1, resources: ['bills'], deletes: 1 });
}

/** Waits until each connection was completely read by a sync that began after `since`. */
async function untilAllSynced(fleet: Fleet, since: Date, report: (progress: string) => void): Promise<void> {
  for (let looks = 0; ; looks += 1) {
    const left = await notReadSince(fleet, since);
    if (left === 0) return;
    if (looks % 12 === 0) report(`${left} have not been read yet`);
    await wait(5_000);
  }
}

async function countRuns({ warehouse }: Fleet): Promise<Record<string, number>> {
  const { rows } = await warehouse.pool.query<{ run: string; runs: number }>(
    `select kind || ' ' || status as run, count(*)::int as runs from sync.runs group by 1 order by 1`,
  );
  return Object.fromEntries(rows.map(({ run, runs }) => [run, runs]));
}
