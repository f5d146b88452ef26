import { resources } from '../../resources/index.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { rows } from '../support/rows.ts';

/** The content that a rerun must leave unchanged, row by row as text. Leaves out times of observation and ids of runs where each run changes them. */
export async function readContent(warehouse: Warehouse): Promise<Record<string, string[]>> {
  const content: Record<string, string[]> = {};
  for (const [table, columns] of Object.entries(compared)) {
    const found = await rows(
      warehouse,
      `select to_jsonb(t)::text as row from (select ${columns} from ${table}) t where ${rowFilters[table] ?? 'true'} order by 1`,
    );
    content[table] = found.map(({ row }) => String(row));
  }
  return content;
}

/** Watermarks that are behind the first run's, or missing. A later run may move them ahead, because it knows a later time of the service. */
export async function watermarksBehind(
  warehouse: Warehouse,
  before: Readonly<Record<string, string | null>>,
): Promise<string[]> {
  const after = await readWatermarks(warehouse);
  return Object.entries(before).flatMap(([stream, watermark]) =>
    watermark === null || (after[stream] ?? '') >= watermark
      ? []
      : [`${stream}: ${after[stream]} after ${watermark}`],
  );
}

/** Watermarks by connection and stream, in a form that sorts chronologically. */
export async function readWatermarks(warehouse: Warehouse): Promise<Record<string, string | null>> {
  const found = await rows(
    warehouse,
    `select connection_id || '/' || stream as stream, to_char(watermark, 'YYYY-MM-DD HH24:MI:SS.US') as watermark
     from sync.streams`,
  );
  return Object.fromEntries(
    found.map(({ stream, watermark }) => [String(stream), watermark as string | null]),
  );
}

const finance = resources.flatMap(({ name, children }) => [name, ...children.map(({ table }) => table)]);

const compared: Readonly<Record<string, string>> = {
  ...Object.fromEntries(finance.map((table) => [`finance.${table}`, '*'])),
  'finance.deleted_records': '*',
  'history.record_versions': '*',
  'sync.tombstones': '*',
  'sync.streams': 'connection_id, stream, capability',
  'sync.passes': 'connection_id, stream, kind',
  'sync.quarantine': 'connection_id, resource, record_id, reason, payload, status',
  'sync.field_issues': 'connection_id, resource, record_id, field, value',
  'sync.discrepancies': 'connection_id, resource, record_id, kind, status',
  'sync.webhook_inbox': 'id, status, outcome',
  'sync.snapshots': 'snapshot_id, rows, removed_at is null as kept',
};

/** Entries that a later listing decides anew are left out. */
const rowFilters: Readonly<Record<string, string>> = { 'sync.discrepancies': `status <> 'dismissed'` };

/** The first few differences of each table, in words. Empty if both are the same. */
export function changesBetween(
  before: Readonly<Record<string, readonly string[]>>,
  after: Readonly<Record<string, readonly string[]>>,
): string[] {
  return Object.keys(before).flatMap((table) => {
    const [left, right] = [new Set(before[table]), new Set(after[table])];
    const changes = [
      ...[...left].filter((row) => !right.has(row)).map((row) => `${table} lost ${row}`),
      ...[...right].filter((row) => !left.has(row)).map((row) => `${table} got ${row}`),
      ...(before[table]?.length === after[table]?.length ? [] : [`${table} has another number of rows`]),
    ];
    return changes.slice(0, 5);
  });
}
