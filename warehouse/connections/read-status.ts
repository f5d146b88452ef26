import { sql } from 'kysely';
import { streamNames, streams as lists } from '../../resources/index.ts';
import { UnknownConnection } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { countOpenEntries } from '../quarantine/count-open-entries.ts';
import type { RunKind, RunStatus } from '../tables/runs.ts';
import { noWebhooks, readWebhookStatus, type WebhookStatus } from '../webhooks/read-webhook-status.ts';
import { lastComplete, stale } from './stale.ts';

export interface ConnectionStatus {
  name: string;
  platform: string | null;
  org_id: string | null;
  /** Seconds between two syncs; null: only on request. */
  every_seconds: number | null;
  /** Factor by which that interval is stretched, so that all connections fit the API budget. */
  stretch: number;
  paused: { why: string; since: Date | null } | null;
  /** Scheduled, not paused, and a supported stream was not complete for twice the interval. */
  stale: boolean;
  /** Consecutive failed syncs. */
  failures: number;
  last_run: {
    run_id: string;
    workflow_id: string;
    kind: RunKind;
    status: RunStatus;
    failure: string | null;
    started_at: Date;
  } | null;
  /** Number of open entries, as far as they are counted: 10,001 stands for more than 10,000. */
  quarantined: number;
  webhooks: WebhookStatus;
  streams: StreamStatus[];
}

export interface StreamStatus {
  stream: string;
  /** Null for events, which concern all resources. */
  resource: string | null;
  /**
   * never: never complete; reading: a run reads it; failing: a run reads it, and its requests fail; begun: a run ended before it was complete, and
   * the next one goes on; missing: its list answers 404, although it returned pages before, and each run asks again; stalled: its list hides a newer
   * record that was found in another way; unsupported; complete.
   */
  state: 'never' | 'reading' | 'begun' | 'failing' | 'missing' | 'stalled' | 'unsupported' | 'complete';
  watermark: Date | null;
  last_success_at: Date | null;
  /** Seconds since the last success. */
  freshness_seconds: number | null;
  last_reconcile_at: Date | null;
  /** The time since which its resource has needed a reconcile, which the next sync of the connection starts; null: it needs none. */
  reconcile_wanted_at: Date | null;
}

/** Reads the status of all connections, by name, or of one. Throws UnknownConnection if the requested one does not exist. */
export async function readStatus(warehouse: Warehouse, connectionId?: string): Promise<ConnectionStatus[]> {
  const statuses = await readStatuses(warehouse, connectionId === undefined ? null : [connectionId]);
  if (connectionId !== undefined && statuses.length === 0) throw new UnknownConnection(connectionId);
  return statuses;
}

/** Reads the status of the given connections, in their order. Connections that no longer exist are left out. */
export async function readStatusesFor(
  warehouse: Warehouse,
  connections: readonly string[],
): Promise<ConnectionStatus[]> {
  const statuses = new Map(
    (await readStatuses(warehouse, connections)).map((status) => [status.name, status]),
  );
  return connections.flatMap((name) => statuses.get(name) ?? []);
}

/** `names` null: all connections. */
async function readStatuses(
  warehouse: Warehouse,
  names: readonly string[] | null,
): Promise<ConnectionStatus[]> {
  const { db } = warehouse;
  const asked = sql<boolean>`(${names}::text[] is null or connections.connection_id = any(${names}::text[]))`;
  const connections = await db
    .selectFrom('sync.connections')
    .select([
      'connection_id',
      'platform',
      'org_id',
      'failures',
      'paused_at',
      'paused_why',
      'sync_stretch as stretch',
    ])
    .select([
      sql<number | null>`extract(epoch from sync_every)::bigint`.as('every_seconds'),
      stale.as('stale'),
    ])
    .where(asked)
    .orderBy('connection_id')
    .execute();
  const { rows: streams } = await sql<StreamRow>`
    select s.connection_id, s.stream, s.capability, s.watermark, s.last_success_at, s.last_reconcile_at,
      s.reconcile_wanted_at,
      s.stalled_at is not null as stalled, s.missing_since is not null as missing,
      extract(epoch from clock_timestamp() - ${lastComplete})::bigint as freshness_seconds,
      p.connection_id is not null as begun, p.failing_since is not null as failing,
      r.run_id is not null as reading
    from sync.connections
    join sync.streams s using (connection_id)
    left join sync.passes p on p.connection_id = s.connection_id and p.stream = s.stream and p.kind = 'sync'
    left join sync.runs r on r.run_id = p.run_id and r.status = 'running'
    where ${asked}
  `.execute(db);
  // Reads the newest run of each connection by index, because each may have thousands of runs.
  const { rows: runs } = await sql<LastRun>`
    select connections.connection_id, run_id, workflow_id, kind, status, failure, started_at
    from sync.connections
    cross join lateral (
      select run_id, workflow_id, kind, status, failure, started_at
      from sync.runs
      where runs.connection_id = connections.connection_id and kind <> 'webhook'
      order by started_at desc
      limit 1
    ) last
    where ${asked}
  `.execute(db);
  const webhooks = await readWebhookStatus(warehouse, names);
  const quarantined = await countOpenEntries(warehouse, names);
  const byConnection = {
    streams: new Map(streams.map((row) => [streamKey(row.connection_id, row.stream), row])),
    runs: new Map(runs.map((run) => [run.connection_id, run])),
  };
  return connections.map(({ connection_id: name, paused_at: since, paused_why: why, ...connection }) => ({
    name,
    ...connection,
    paused: since === null ? null : { why: why ?? '', since },
    last_run: describeLastRun(byConnection.runs.get(name)),
    quarantined: quarantined.get(name) ?? 0,
    webhooks: webhooks.get(name) ?? noWebhooks,
    streams: streamNames.map((stream) =>
      buildStreamStatus(stream, byConnection.streams.get(streamKey(name, stream))),
    ),
  }));
}

function streamKey(connection: string, stream: string): string {
  return `${stream}/${connection}`;
}

interface StreamRow {
  connection_id: string;
  stream: string;
  capability: 'unknown' | 'supported' | 'unsupported';
  watermark: Date | null;
  last_success_at: Date | null;
  freshness_seconds: number | null;
  last_reconcile_at: Date | null;
  reconcile_wanted_at: Date | null;
  stalled: boolean;
  missing: boolean;
  begun: boolean;
  reading: boolean;
  failing: boolean;
}

type LastRun = NonNullable<ConnectionStatus['last_run']> & { connection_id: string };

function describeLastRun(run: LastRun | undefined): ConnectionStatus['last_run'] {
  if (run === undefined) return null;
  const { run_id, workflow_id, kind, status, failure, started_at } = run;
  return { run_id, workflow_id, kind, status, failure, started_at };
}

function buildStreamStatus(stream: string, row: StreamRow | undefined): StreamStatus {
  return {
    stream,
    resource: lists.find((list) => list.stream.name === stream)?.resource.name ?? null,
    state: streamState(row),
    watermark: row?.watermark ?? null,
    last_success_at: row?.last_success_at ?? null,
    freshness_seconds: row?.freshness_seconds ?? null,
    last_reconcile_at: row?.last_reconcile_at ?? null,
    reconcile_wanted_at: row?.reconcile_wanted_at ?? null,
  };
}

function streamState(row: StreamRow | undefined): StreamStatus['state'] {
  if (row === undefined) return 'never';
  if (row.capability === 'unsupported') return 'unsupported';
  if (row.reading) return row.failing ? 'failing' : 'reading';
  if (row.missing) return 'missing';
  if (row.begun) return 'begun';
  if (row.last_success_at === null) return 'never';
  return row.stalled ? 'stalled' : 'complete';
}
