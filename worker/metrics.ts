import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { PageCounts } from '../activities/dependencies.ts';

export const registry = new Registry();
collectDefaultMetrics({ register: registry });

const requests = new Counter({
  name: 'daybook_requests_total',
  help: 'Requests to the finance API, by outcome: ok, aborted, or the name of the error',
  labelNames: ['outcome'],
  registers: [registry],
});

const pagesLanded = new Counter({
  name: 'daybook_pages_landed_total',
  help: 'Pages committed to the warehouse',
  labelNames: ['stream'],
  registers: [registry],
});

const records = new Counter({
  name: 'daybook_records_total',
  help: 'Records of committed pages, by outcome',
  labelNames: ['stream', 'outcome'],
  registers: [registry],
});

const landingSeconds = new Histogram({
  name: 'daybook_page_landing_seconds',
  help: 'Time from the prepared page to its commit',
  labelNames: ['stream'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  registers: [registry],
});

const openAlerts = new Gauge({
  name: 'daybook_open_alerts',
  help: 'Open alerts, by kind; as of the last successful check',
  labelNames: ['kind'],
  registers: [registry],
});

const lastSuccess = new Gauge({
  name: 'daybook_last_success_timestamp_seconds',
  help: 'When an export last published a snapshot or found nothing changed (what: export), and since when readers see the marts (marts_postgres, marts_lake)',
  labelNames: ['what'],
  registers: [registry],
});

/** Counts a request to the finance API. */
export function noteRequest(outcome: string): void {
  requests.inc({ outcome });
}

/** Counts a committed page. */
export function notePageLanded(page: { stream: string; milliseconds: number; counts: PageCounts }): void {
  const { stream, milliseconds, counts } = page;
  pagesLanded.inc({ stream });
  landingSeconds.observe({ stream }, milliseconds / 1000);
  for (const outcome of ['inserted', 'updated', 'unchanged', 'suppressed', 'quarantined'] as const) {
    if (counts[outcome] > 0) records.inc({ stream, outcome }, counts[outcome]);
  }
}

/** Records the last success of each thing. A thing that never succeeded has no time. */
export function setLastSuccesses(times: Readonly<Record<string, Date | null>>): void {
  for (const [what, time] of Object.entries(times))
    if (time !== null) lastSuccess.set({ what }, time.getTime() / 1000);
}

/** Records the number of open alerts by kind. */
export function setOpenAlerts(counts: Readonly<Record<string, number>>): void {
  openAlerts.reset();
  for (const [kind, count] of Object.entries(counts)) openAlerts.set({ kind }, count);
}
