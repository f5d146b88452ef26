import { sql, type Kysely } from 'kysely';

/** What makes a change visible in seconds and a failure at a glance: the inbox of webhooks, and alerts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(inSight).execute(db);
}

const inSight = `
  create table sync.webhook_inbox (
    id bigint generated always as identity primary key,
    digest text collate "C" not null unique,
    service_connection_id text collate "C",
    connection_id text collate "C" references sync.connections on delete cascade,
    type text not null,
    code text not null,
    resource text collate "C",
    record_id text collate "C",
    version timestamptz,
    payload jsonb not null,
    status text not null default 'waiting' check (status in ('waiting', 'applied', 'ignored')),
    outcome text,
    deliveries bigint not null default 1,
    tries integer not null default 0,
    try_after timestamptz,
    run_id text,
    received_at timestamptz not null default clock_timestamp(),
    last_received_at timestamptz not null default clock_timestamp(),
    closed_at timestamptz
  );
  create index on sync.webhook_inbox (connection_id, id) where status = 'waiting';
  create index on sync.webhook_inbox (connection_id, resource, record_id) where status = 'waiting';
  create index on sync.webhook_inbox (connection_id, last_received_at desc);
  create index on sync.webhook_inbox (closed_at) where closed_at is not null;
  comment on table sync.webhook_inbox is 'Webhooks as they arrived, access tokens cut out; a hint that something changed, never the change itself';
  comment on column sync.webhook_inbox.id is 'Number of the webhook';
  comment on column sync.webhook_inbox.digest is 'SHA-256 of the content: the same one again is counted, not stored';
  comment on column sync.webhook_inbox.service_connection_id is 'Connection as the service names it';
  comment on column sync.webhook_inbox.connection_id is 'Connection with that identity; null: there is none here';
  comment on column sync.webhook_inbox.type is 'Type as sent, such as BILL or CONNECTION';
  comment on column sync.webhook_inbox.code is 'Code as sent, such as BILL_UPDATED';
  comment on column sync.webhook_inbox.resource is 'Resource of the record; null: none that is copied';
  comment on column sync.webhook_inbox.record_id is 'Service ID of the record';
  comment on column sync.webhook_inbox.version is 'Version of the record that the webhook told of, in the service clock';
  comment on column sync.webhook_inbox.payload is 'The body, without access tokens';
  comment on column sync.webhook_inbox.status is
    'waiting: to be applied; applied; ignored: nothing follows from it';
  comment on column sync.webhook_inbox.outcome is 'What came of it, or why nothing did';
  comment on column sync.webhook_inbox.deliveries is 'How often it arrived';
  comment on column sync.webhook_inbox.tries is 'How often it was tried in vain';
  comment on column sync.webhook_inbox.try_after is 'Not before this time is it tried again, by the database clock';
  comment on column sync.webhook_inbox.run_id is 'Run that applied it';
  comment on column sync.webhook_inbox.received_at is 'When it first arrived, by the database clock';
  comment on column sync.webhook_inbox.last_received_at is 'When it last arrived, by the database clock';
  comment on column sync.webhook_inbox.closed_at is 'When it was applied or ignored, by the database clock';

  alter table sync.connections add column webhooks_after timestamptz;
  comment on column sync.connections.webhooks_after is
    'Webhooks are not applied before this time, by the database clock: the service asked for a pause, or refused; null: they are';

  alter table sync.run_streams add column unannounced bigint not null default 0;
  comment on column sync.run_streams.unannounced is
    'Of a sync after the first: records it changed that no webhook had told of, though the connection gets webhooks';

  create table sync.alerts (
    id bigint generated always as identity primary key,
    kind text not null,
    connection_id text collate "C",
    message text not null,
    remedy text not null,
    opened_at timestamptz not null default clock_timestamp(),
    resolved_at timestamptz,
    open_sent_at timestamptz,
    resolved_sent_at timestamptz,
    tries integer not null default 0,
    try_after timestamptz
  );
  create unique index on sync.alerts (kind, coalesce(connection_id, '')) where resolved_at is null;
  create index on sync.alerts (resolved_at) where resolved_at is not null;
  comment on table sync.alerts is 'What needs, or needed, a person';
  comment on column sync.alerts.id is 'Number of the alert';
  comment on column sync.alerts.kind is 'What is wrong: failed, paused, stale, stalled, approval, quarantine, webhooks';
  comment on column sync.alerts.connection_id is 'Connection it is about, or was: it may be removed since; null: no single one';
  comment on column sync.alerts.message is 'What is wrong, in a sentence';
  comment on column sync.alerts.remedy is 'What to do about it';
  comment on column sync.alerts.opened_at is 'Since when, by the database clock';
  comment on column sync.alerts.resolved_at is 'When it was over, by the database clock; null: it is not';
  comment on column sync.alerts.open_sent_at is 'When DAYBOOK_ALERT_URL was told that it is open; null: it was not';
  comment on column sync.alerts.resolved_sent_at is 'When DAYBOOK_ALERT_URL was told that it is over; null: it was not';
  comment on column sync.alerts.tries is 'How often it was tried to tell it, since that last worked';
  comment on column sync.alerts.try_after is
    'Not confirmed yet: told again from this time on, by the database clock; null: confirmed, or never tried';
`;
