import pg from 'pg';
import { parseExactly } from './exact-json.ts';
import type { SandboxAdmin } from './sandbox-admin.ts';
import { sourceTables, type SourceChild, type SourceField, type SourceTable } from './source-tables.ts';
import {
  canonicalJson,
  canonicalSource,
  canonicalStored,
  isObject,
  findProblem,
  valueAt,
} from './source-value.ts';

export interface Comparison {
  /** Records of the source, those in quarantine included. */
  readonly records: number;
  /** Fields that were compared, of records and their children. */
  readonly values: number;
  readonly quarantined: number;
  /** The first differences, in words. Empty when the warehouse is exact. */
  readonly differences: readonly string[];
}

/**
 * Compares every field of `finance` with what the sandbox would answer now, and the open quarantine with the records that no client could
 * store. Shares no code with the product, because both would then make the same mistake.
 */
export async function compareWithSource(input: {
  databaseUrl: string;
  admin: Pick<SandboxAdmin, 'content'>;
  /** Name in the warehouse. */
  connectionId: string;
  /** Name in the sandbox, if it differs. */
  sourceConnection?: string;
  tables?: readonly string[];
  expandPlatformData?: boolean;
}): Promise<Comparison> {
  const { databaseUrl, connectionId, sourceConnection = connectionId, expandPlatformData } = input;
  const client = new pg.Client({
    connectionString: databaseUrl,
    options: '-c timezone=UTC',
    types: { getTypeParser: () => (text: string) => text },
  });
  await client.connect();
  try {
    const difference = new Differences();
    let records = 0;
    let quarantined = 0;
    for (const table of sourceTables.filter(({ table }) => input.tables?.includes(table) ?? true)) {
      const lines = await input.admin.content(sourceConnection, table.table as Resource, {
        expandPlatformData,
      });
      const source = lines.map((line) => parseExactly(line));
      records += source.length;
      quarantined += await compareTable(client, { table, connectionId, source, difference });
    }
    const { values, differences } = difference;
    return { records, values, quarantined, differences };
  } finally {
    await client.end();
  }
}

type Resource = Parameters<SandboxAdmin['content']>[1];

class Differences {
  values = 0;
  readonly differences: string[] = [];

  add(text: string): void {
    if (this.differences.length < 20) this.differences.push(text);
  }
}

/** The id as the warehouse holds it: Postgres has no NUL. */
function toStoredId(record: unknown): string {
  return String(valueAt(record, ['id'])).replaceAll('\0', '\uFFFD');
}

async function compareTable(
  client: pg.Client,
  input: { table: SourceTable; connectionId: string; source: readonly unknown[]; difference: Differences },
): Promise<number> {
  const { table, connectionId, difference } = input;
  const expected = new Map<string, unknown>();
  const unlandable: unknown[] = [];
  for (const record of input.source) {
    if (findProblems(table, record).length > 0) unlandable.push(record);
    else expected.set(toStoredId(record), record);
  }
  const kept = new Set(unlandable.map(toStoredId));
  const stored = await queryRows(client, `select * from finance.${table.table} where connection_id = $1`, [
    connectionId,
  ]);
  const rows = stored.filter(({ id }) => id !== null && !kept.has(id ?? ''));
  for (const row of rows) {
    if (!expected.has(row.id ?? '')) difference.add(`${table.table} ${row.id ?? ''} is not in the source`);
  }
  const byId = new Map(rows.map((row) => [row.id ?? '', row]));
  for (const [id, record] of expected) {
    const row = byId.get(id);
    if (row === undefined) difference.add(`${table.table} ${id} is missing`);
    else compareFields(difference, `${table.table} ${id}`, { fields: table.fields, row, record });
  }
  for (const child of table.children)
    await compareChild(client, { child, connectionId, expected, difference });
  await compareQuarantine(client, { table, connectionId, unlandable, difference });
  return unlandable.length;
}

async function compareChild(
  client: pg.Client,
  input: {
    child: SourceChild;
    connectionId: string;
    expected: ReadonlyMap<string, unknown>;
    difference: Differences;
  },
): Promise<void> {
  const { child, connectionId, expected, difference } = input;
  const rows = await queryRows(
    client,
    `select * from finance.${child.table} where connection_id = $1 order by ${child.parentKey}, position`,
    [connectionId],
  );
  const byParent = new Map<string, StoredRow[]>();
  for (const row of rows) {
    const parent = row[child.parentKey] ?? '';
    byParent.set(parent, [...(byParent.get(parent) ?? []), row]);
  }
  for (const [id, record] of expected) {
    const elements = valueAt(record, [child.from]);
    const wanted = Array.isArray(elements) ? elements : [];
    const found = byParent.get(id) ?? [];
    if (found.length !== wanted.length)
      difference.add(`${child.table} of ${id}: ${found.length} instead of ${wanted.length}`);
    found.forEach((row, index) => {
      const where = `${child.table} ${id}[${index}]`;
      if (row.position !== String(index)) difference.add(`${where} has position ${String(row.position)}`);
      compareFields(difference, where, {
        fields: child.fields,
        row,
        record: wanted[index],
        keys: [child.parentKey, 'position'],
      });
    });
  }
}

type StoredRow = Record<string, string | null>;

function compareFields(
  difference: Differences,
  where: string,
  input: { fields: readonly SourceField[]; row: StoredRow; record: unknown; keys?: readonly string[] },
): void {
  const { fields, row, record, keys = [] } = input;
  for (const { column, path, kind } of fields) {
    difference.values += 1;
    const wanted = canonicalSource(kind, valueAt(record, path));
    const found =
      column in row ? canonicalStored(kind, row[column] ?? null, parseExactly) : 'a column that is not there';
    if (found !== wanted)
      difference.add(`${where}.${column} is ${String(found)} instead of ${String(wanted)}`);
  }
  const known = new Set(['connection_id', ...keys, ...fields.map(({ column }) => column)]);
  for (const column of Object.keys(row)) {
    if (!known.has(column) && !column.startsWith('_'))
      difference.add(`${where}.${column} is not in the API document`);
  }
}

/** Checks that the quarantine holds the records that no client could store, as they were sent, and nothing else. */
async function compareQuarantine(
  client: pg.Client,
  input: {
    table: SourceTable;
    connectionId: string;
    unlandable: readonly unknown[];
    difference: Differences;
  },
): Promise<void> {
  const { table, connectionId, unlandable, difference } = input;
  const entries = await queryRows(
    client,
    `select payload from sync.quarantine where connection_id = $1 and resource = $2 and status = 'open'`,
    [connectionId, table.table],
  );
  const found = new Set(entries.map(({ payload }) => canonicalJson(parseExactly(payload ?? 'null'))));
  const wanted = new Set(unlandable.map(canonicalJson));
  for (const record of wanted) {
    if (!found.has(record)) difference.add(`${table.table}: not in quarantine: ${record.slice(0, 200)}`);
  }
  for (const record of found) {
    if (!wanted.has(record))
      difference.add(`${table.table}: in quarantine without need: ${record.slice(0, 200)}`);
  }
}

function findProblems({ table, fields, children }: SourceTable, record: unknown): string[] {
  const version = table === 'subscriptions' ? 'updated_at' : 'last_synced_at';
  const required = (column: string): boolean => column === 'id' || column === version;
  return [
    ...fields.flatMap(
      (field) => findProblem(field, valueAt(record, field.path), required(field.column)) ?? [],
    ),
    ...children.flatMap(({ from, fields }) => {
      const elements = valueAt(record, [from]) ?? [];
      if (!Array.isArray(elements)) return [`${from} is no list`];
      return elements.flatMap((element: unknown) =>
        isObject(element)
          ? fields.flatMap((field) => findProblem(field, valueAt(element, field.path), false) ?? [])
          : [`an element of ${from} is no object`],
      );
    }),
  ];
}

async function queryRows(client: pg.Client, sql: string, values: readonly string[]): Promise<StoredRow[]> {
  return (await client.query<StoredRow>(sql, [...values])).rows;
}
