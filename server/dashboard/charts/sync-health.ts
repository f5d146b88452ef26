import * as z from 'zod';
import { defineChart, type Chart } from '../chart.ts';
import { utcMinute } from '../utc-minute.ts';
import { freshnessWords } from '../freshness-words.ts';

/** How complete and how fresh the records behind the charts above are. */
export const syncHealth: Chart = defineChart({
  id: 'sync-health',
  title: 'Sync health',
  about:
    'When each resource was last read completely, and last proved equal to the source, as of the build of the marts.',
  shownAs: 'table',
  marts: ['sync_health'],
  sql: `
select
  scope.connection_id, -- null: all connections
  health.connection_id as name,
  resource,
  freshness_status,
  record_count,
  deleted_records,
  quarantined_records,
  last_success_at,
  last_reconcile_at
from marts.sync_health as health
cross join lateral (values (health.connection_id), (null)) as scope (connection_id)
order by scope.connection_id nulls first, name, resource`,
  row: z.object({
    connection_id: z.string().nullable(),
    name: z.string(),
    resource: z.string(),
    freshness_status: z.string(),
    record_count: z.number(),
    deleted_records: z.number(),
    quarantined_records: z.number(),
    last_success_at: z.string().nullable(),
    last_reconcile_at: z.string().nullable(),
  }),
  view(rows) {
    const offered = rows.filter(({ freshness_status: status }) => status !== 'unsupported');
    const fresh = offered.filter(({ freshness_status: status }) => status === 'fresh');
    // Rows that need attention are always shown.
    const shown =
      rows.length <= mostShown
        ? rows
        : [...offered.filter((row) => !fresh.includes(row)), ...fresh].slice(0, mostShown);
    const first = shown.length === rows.length ? '' : ` ${shown.length.toLocaleString('en-US')} are here.`;
    return {
      sentence: `${fresh.length} of ${offered.length} lists were read completely today or yesterday.${first}`,
      columns: [
        { head: 'Connection' },
        { head: 'Resource' },
        { head: 'State' },
        { head: 'Records', kind: 'number' },
        { head: 'Deleted', kind: 'number' },
        { head: 'In quarantine', kind: 'number' },
        { head: 'Last success (UTC)' },
        { head: 'Last reconcile (UTC)' },
      ],
      rows: shown.map((row) => [
        row.name,
        row.resource.replaceAll('_', ' '),
        freshnessWords(row.freshness_status),
        row.record_count.toLocaleString('en-US'),
        row.deleted_records.toLocaleString('en-US'),
        row.quarantined_records.toLocaleString('en-US'),
        utcMinute(row.last_success_at),
        utcMinute(row.last_reconcile_at),
      ]),
    };
  },
  empty: 'Nothing was read yet.',
});

/** The rows of about 500 connections; nobody reads through more. */
const mostShown = 3_500;
