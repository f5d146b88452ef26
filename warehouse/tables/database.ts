import type { ColumnType } from 'kysely';
import type { AlertsTable } from './alerts.ts';
import type { DiscrepanciesTable } from './discrepancies.ts';
import type { HostsTable } from './hosts.ts';
import type { KeptDataTable } from './kept-data.ts';
import type { MartsTable } from './marts.ts';
import type { NamespaceClaimsTable } from './namespace-claims.ts';
import type { QuarantineTable } from './quarantine.ts';
import type { ReaderConnectionsTable, ReadersTable } from './readers.ts';
import type { RunStreamsTable } from './run-streams.ts';
import type { RunsTable } from './runs.ts';
import type { StreamsTable } from './streams.ts';
import type { AllConnectionsTable, ConnectionsTable } from './connections.ts';
import type { PassesTable } from './passes.ts';
import type { SnapshotsTable } from './snapshots.ts';
import type { WebhookInboxTable } from './webhook-inbox.ts';

/** The tables that are read and written one row at a time. `finance` and `history` are written by set-based SQL only. */
export interface Database {
  'sync.settings': { name: string; value: string };
  'sync.connections': ConnectionsTable;
  'sync.all_connections': AllConnectionsTable;
  'sync.kept_data': KeptDataTable;
  'sync.streams': StreamsTable;
  'sync.passes': PassesTable;
  'sync.runs': RunsTable;
  'sync.run_streams': RunStreamsTable;
  'sync.quarantine': QuarantineTable;
  'sync.discrepancies': DiscrepanciesTable;
  'sync.webhook_inbox': WebhookInboxTable;
  'sync.alerts': AlertsTable;
  'sync.snapshots': SnapshotsTable;
  'sync.marts': MartsTable;
  'sync.namespace_claims': NamespaceClaimsTable;
  'sync.hosts': HostsTable;
  'sync.readers': ReadersTable;
  'sync.reader_connections': ReaderConnectionsTable;
}

/** A time is read as a Date, to the millisecond. A time that must keep its microseconds never leaves SQL. */
export type Time = ColumnType<Date, Date | string, Date | string>;
/** Written as Postgres reads it (`900 seconds`); read through `extract(epoch from …)`, because drivers split it into units. */
export type Interval = ColumnType<never, string, string>;
export type DefaultTime = ColumnType<Date, Date | string | undefined, Date | string>;
