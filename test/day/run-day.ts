import { setTimeout as wait } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import { planAgenda, type Appointment } from './agenda.ts';
import { askForBackfill, askForReconcile, askForSync } from './ask-for-runs.ts';
import { chanceOf } from './chance.ts';
import { disturb } from './disturb.ts';
import { judgeDay } from './judge-day.ts';
import { openOffice, type Office } from './office.ts';
import { connections, openCompany, processesOfDay, type Company } from './open-company.ts';
import type { Place } from '../support/own-servers.ts';
import { startTicking } from './start-ticking.ts';
import { untilPostIsDone } from './until-post-is-done.ts';
import { summarise, ticksOf, type Summary } from './summarise.ts';

export interface DayOptions {
  /** The least number of syncs for every connection. */
  readonly ticks: number;
  readonly tickSeconds: number;
  /** Decides everything that happens, except how long it takes. */
  readonly seed: number;
  /** The number of records of each connection at the beginning. */
  readonly records: number;
}

export interface Day {
  readonly summary: Summary;
  /** The broken promises, in sentences. Empty after a good day. */
  readonly complaints: readonly string[];
}

/**
 * Plays a day of three companies in minutes. Their connections are synced all the time while people work, webhooks arrive or get lost, the
 * service fails now and then, and processes are killed. After all that stops, everything must match the source.
 */
export async function runDay(
  place: Place,
  options: DayOptions,
  report: (progress: string) => void,
): Promise<Day> {
  const started = performance.now();
  const company = await openCompany(place, options);
  const office = openOffice({ admin: company.admin, connections, seed: options.seed });
  try {
    const ended: string[] = [];
    try {
      await liveThroughDay(company, { office, options, report });
      report('All quiet now: a sync of each, and two reconciles');
      ended.push(...(await settle(company)));
    } finally {
      ended.push(...(await company.processes.stop()));
    }
    const complaints = [...ended, ...(await judgeDay(company, office.deeds))];
    return { summary: await summarise(company, { deeds: office.deeds, started }), complaints };
  } finally {
    await company.sandbox.close();
  }
}

async function liveThroughDay(
  company: Company,
  { office, options, report }: { office: Office; options: DayOptions; report: (progress: string) => void },
): Promise<void> {
  const { admin } = company;
  const chance = chanceOf(`day/${options.seed}`);
  const agenda = planAgenda({ ...options, processes: processesOfDay, connections, chance });
  const asked: Promise<unknown>[] = [];
  const ticking = await startTicking(company, options);
  let spoken = performance.now();
  for (let ticks = 0; ticks < options.ticks; ticks = await ticksOf(company)) {
    await office.work();
    if (chance.happens(12)) await disturb(admin, { connections, chance });
    for (let due = agenda[0]; due !== undefined && due.tick <= ticks; due = agenda[0]) {
      agenda.shift();
      asked.push(keep(company, due));
    }
    if (performance.now() - spoken > 10_000) {
      report(
        `${ticks} of ${options.ticks} ticks, ${office.deeds.length} deeds, ${company.processes.kills()} kills`,
      );
      spoken = performance.now();
    }
    await wait(100 + chance.below(600));
  }
  await admin.clearFaults();
  await ticking.stop();
  await Promise.all(asked);
}

/** Carries out an appointment. A run may fail while the service has faults, but not at the end. */
async function keep(company: Company, appointment: Appointment): Promise<void> {
  const { client, processes } = company;
  if (appointment.what === 'kill') {
    processes.kill(appointment.process);
    return;
  }
  if (appointment.what === 'no Temporal') {
    await company.interruptTemporal?.(5);
    return;
  }
  const run =
    appointment.what === 'reconcile'
      ? askForReconcile(client, appointment.connection)
      : askForBackfill(client, appointment);
  await run.catch((error: unknown) => {
    if (!(error instanceof WorkflowFailedError)) throw error;
  });
}

/** Runs everything once more without faults. Returns complaints about runs that still fail. */
async function settle(company: Company): Promise<string[]> {
  const { client, warehouse } = company;
  const complaints: string[] = [];
  await untilPostIsDone(company, { seconds: 60 });
  for (const connection of connections) {
    let last = '';
    for (const ask of [askForSync, askForReconcile, askForReconcile]) {
      const { runId, status } = await ask(client, connection);
      if (status !== 'succeeded')
        complaints.push(`${connection}: run ${runId}, with no fault left, is ${status}.`);
      last = runId;
    }
    const { rows } = await warehouse.pool.query<{ found: string }>(
      `select format('%s %s %s', kind, resource, record_id) as found from sync.discrepancies where run_id = $1`,
      [last],
    );
    complaints.push(...rows.map(({ found }) => `${connection}: the second reconcile still found: ${found}.`));
  }
  return complaints;
}
