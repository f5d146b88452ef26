import { join } from 'node:path';
import { makeSnapshot } from '../../activities/export/make-snapshot.ts';
import { snapshotId } from '../../lake/manifest/snapshot-id.ts';
import { readParquet } from '../lake/read-parquet.ts';
import { parseExactly } from '../support/exact-json.ts';
import { sourceTables, type SourceField } from '../support/source-tables.ts';
import { canonicalSource, canonicalStored, valueAt } from '../support/source-value.ts';
import type { Company } from './company.ts';
import { parseRecordName } from './true-record.ts';
import { InvariantViolation } from './invariant-checker.ts';

/**
 * Exports everything into the lake, and compares the published tables of the company with the source, field by field and digit by digit.
 * This includes files carried over from an earlier snapshot.
 */
export async function judgeSnapshot(company: Company, lake: string): Promise<void> {
  company.played.snapshots += 1;
  await compareTables(company, await exportInto(lake, company));
}

/** Exports into the lake, and returns the folder of the snapshot. */
export async function exportInto(lake: string, { harness, connection }: Company): Promise<string> {
  const startedAt = new Date();
  const runId = `${connection}-export-${startedAt.getTime()}`;
  const { snapshotId: id } = await makeSnapshot(
    {
      databaseUrl: harness.databaseUrl,
      databaseConnections: 3,
      lake,
      scratch: `${lake}-scratch`,
      keep: { last: 2, daily: 0, monthEnds: false },
      productVersion: '0.0.0-simulation',
      warehouseId: 'simulation',
      runId,
      snapshotId: snapshotId({ runId, startedAt }),
      sizes: { rowsAlone: 5, rowsOfPiece: 2, rowsShared: 2, connectionsShared: 2 },
    },
    () => undefined,
  );
  return join(lake, 'snapshots', id);
}

async function compareTables(
  { harness, connection, source, history }: Company,
  folder: string,
): Promise<void> {
  for (const { table, fields, children } of sourceTables) {
    const resource = source.listed.find((name) => name === table);
    if (resource === undefined) continue;
    // A record that cannot be stored stays as it was; `finance` is judged for that.
    const isStorable = (id: string): boolean => source.records.get(`${table}/${id}`)?.spoiled !== true;
    const readRows = async (name: string, key: string): Promise<Row[]> => {
      const query = `select * from read_parquet('{lake}/${name}/*.parquet') where connection_id = '${connection}'`;
      return (await readParquet(folder, query)).filter((row) => isStorable(row[key] ?? ''));
    };
    const records = new Map<string, unknown>();
    for (const line of await harness.admin.content(connection, resource, {
      expandPlatformData: history.expands,
    })) {
      const name = parseRecordName(resource, line);
      const record = name === undefined ? undefined : source.records.get(name);
      if (record !== undefined && !record.spoiled) records.set(record.id, parseExactly(line));
    }
    const rows = await readRows(table, 'id');
    compare(table, fields, { wanted: records, found: byKey(rows, ({ id }) => String(id)) });
    for (const { table: list, from, parentKey, fields } of children) {
      const wanted = new Map<string, unknown>();
      for (const [id, record] of records) {
        const elements: unknown = valueAt(record, [from]);
        for (const [place, element] of (Array.isArray(elements) ? elements : []).entries())
          wanted.set(`${id}[${place}]`, element);
      }
      const rows = await readRows(list, parentKey);
      const found = byKey(rows, (row) => `${String(row[parentKey])}[${String(row.position)}]`);
      compare(list, fields, { wanted, found });
    }
  }
}

type Row = Record<string, string | null>;

function byKey(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row> {
  return new Map(rows.map((row) => [keyOf(row), row]));
}

function compare(
  table: string,
  fields: readonly SourceField[],
  { wanted, found }: { wanted: ReadonlyMap<string, unknown>; found: ReadonlyMap<string, Row> },
): void {
  if (wanted.size !== found.size)
    throw new InvariantViolation(`The snapshot has ${found.size} ${table}, and the source ${wanted.size}.`);
  for (const [key, record] of wanted) {
    const row = found.get(key);
    if (row === undefined) throw new InvariantViolation(`The snapshot does not have ${table} ${key}.`);
    for (const { column, path, kind } of fields) {
      const right = canonicalSource(kind, valueAt(record, path));
      const held = canonicalStored(kind, row[column] ?? null, parseExactly);
      if (held !== right)
        throw new InvariantViolation(
          `In the snapshot ${table} ${key}.${column} is ${String(held)} instead of ${String(right)}.`,
        );
    }
  }
}
