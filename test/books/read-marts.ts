import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MartsPointer } from '../../marts/publish-on-lake.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { readParquet } from '../lake/read-parquet.ts';
import { rows } from '../support/rows.ts';

export type MartRow = Readonly<Record<string, string | null>>;

/** How the values of a column are compared. */
export type Kind = 'number' | 'double' | 'time' | 'date' | 'text';

export interface MartRead {
  /** Every value as text. */
  readonly rows: readonly MartRow[];
  readonly kinds: Readonly<Record<string, Kind>>;
}

export async function martInPostgres(warehouse: Warehouse, mart: string): Promise<MartRead> {
  const columns = await rows(
    warehouse,
    `select column_name as name, data_type as type from information_schema.columns
     where table_schema = 'marts' and table_name = $1 order by ordinal_position`,
    [mart],
  );
  const texts = columns.map(({ name }) => `"${String(name)}"::text`).join(', ');
  return {
    rows: (await rows(warehouse, `select ${texts} from marts.${mart}`)) as MartRow[],
    kinds: classifyColumns(columns.map(({ name, type }) => [String(name), String(type)])),
  };
}

/** Reads the mart from the file that `latest-marts.json` names. */
export async function martOnLake(lake: string, mart: string): Promise<MartRead> {
  const pointer = JSON.parse(await readFile(join(lake, 'latest-marts.json'), 'utf8')) as MartsPointer;
  return martInFile(join(lake, pointer.marts[mart]?.path ?? 'missing'));
}

export async function martInFile(file: string): Promise<MartRead> {
  const columns = await readParquet('', `describe from '${file}'`);
  return {
    rows: await readParquet('', `select columns(*)::varchar from '${file}'`),
    kinds: classifyColumns(
      columns.map(({ column_name, column_type }) => [column_name ?? '', column_type ?? '']),
    ),
  };
}

function classifyColumns(columns: readonly (readonly [string, string])[]): Record<string, Kind> {
  return Object.fromEntries(columns.map(([name, type]) => [name, classifyType(type.toLowerCase())]));
}

function classifyType(type: string): Kind {
  if (type.startsWith('double')) return 'double';
  if (type.startsWith('timestamp')) return 'time';
  if (type === 'date') return 'date';
  return /^(numeric|decimal|bigint)/.test(type) ? 'number' : 'text';
}
