import type { ConnectionReport } from '../../../operations/connection-reports.ts';
import { everyInWords } from '../../../operations/demand-words.ts';
import type { Alert } from '../../../warehouse/alerts/read-alerts.ts';
import type { StreamStatus } from '../../../warehouse/connections/read-status.ts';
import { countInWords } from '../../../warehouse/quarantine/count-open-entries.ts';
import { formatAge } from '../../format-age.ts';
import { print, printTable, shown } from '../../printer.ts';

/** Prints the state of a connection, its `alerts`, and the `readers` limited to it and perhaps to others. */
export function showConnection(
  connection: ConnectionReport,
  { alerts, readers }: { alerts: readonly Alert[]; readers: readonly string[] },
): void {
  print(`\n${headline(connection)}`);
  for (const trouble of connection.troubles) print(`  retrying: ${trouble}`);
  for (const line of scheduleLines(connection)) print(`  ${line}`);
  for (const line of webhookLines(connection)) print(`  ${line}`);
  for (const line of wantedLines(connection)) print(`  ${line}`);
  if (readers.length > 0) print(`  readers limited to some connections: ${readers.join(', ')}`);
  for (const alert of alerts) print(`  ${alertLine(alert)}`);
  printTable(
    ['stream', 'state', 'complete up to', 'last success', 'age', 'reconciled'],
    connection.streams.map((stream) => [
      stream.stream,
      inWords[stream.state],
      stream.watermark,
      stream.last_success_at,
      formatAge(stream.freshness_seconds),
      stream.last_reconcile_at,
    ]),
  );
}

function headline({ name, platform, last_run: run, quarantined }: ConnectionReport): string {
  const parts = [
    `${name}${platform === null ? '' : ` (${platform})`}`,
    run === null ? 'never synced' : `last ${run.kind} ${run.status}`,
    ...(quarantined > 0 ? [`${countInWords(quarantined)} in quarantine`] : []),
  ];
  return parts.join(' · ') + (typeof run?.failure === 'string' ? `\n  ${run.failure}` : '');
}

function scheduleLines(connection: ConnectionReport): string[] {
  const { every_seconds: seconds, stretch, paused, stale, failures, next_run_at: next } = connection;
  const how = seconds === null ? 'on request' : everyInWords({ every_seconds: seconds, stretch });
  return [
    `synced ${how}${next === null ? '' : `, next at ${shown(next)}`}`,
    ...(paused === null ? [] : [`paused: ${paused.why}`]),
    ...(stale ? ['stale: a stream was not complete for more than twice that time'] : []),
    ...(failures > 0 ? [`failures in a row: ${failures}`] : []),
  ];
}

export function alertLine({ kind, opened_at, message, remedy }: Alert): string {
  return `alert (${kind}, since ${shown(opened_at)}): ${message} What to do: ${remedy}`;
}

function webhookLines({ webhooks }: ConnectionReport): string[] {
  const { last_received_at: last, waiting, applied_24h: applied, unannounced_24h: unannounced } = webhooks;
  if (last === null) return [];
  const waits = waiting > 0 ? `, ${shown(waiting)} waiting` : '';
  const changes = `changes in 24 h: ${shown(applied)} by webhook, ${shown(unannounced)} by sync only`;
  return [`webhooks: last at ${shown(last)}${waits}; ${changes}`];
}

function wantedLines({ name, streams }: ConnectionReport): string[] {
  const wanted = streams.filter(({ reconcile_wanted_at: since }) => since !== null);
  if (wanted.length === 0) return [];
  const listed = wanted.map(({ stream, reconcile_wanted_at: since }) => `${stream} (since ${shown(since)})`);
  return [
    `needs a reconcile: ${listed.join(', ')}. The next sync starts it; to start it now: daybook reconcile ${name}`,
  ];
}

const inWords: Record<StreamStatus['state'], string> = {
  never: 'not complete yet',
  reading: 'being read',
  begun: 'partly read: the next sync continues',
  failing: 'failing, retrying',
  missing: 'missing: its list returns 404; the next sync retries',
  stalled: 'stalled: run "daybook reconcile"',
  unsupported: 'not offered for this platform',
  complete: 'complete',
};
