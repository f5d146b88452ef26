import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MartsPointer } from '../../marts/publish-on-lake.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { readParquet } from '../lake/read-parquet.ts';
import { rows } from '../support/rows.ts';

export const dbtFolder: string = fileURLToPath(new URL('../../dbt', import.meta.url));

export type MartRow = Record<string, string | null>;

/** The rows of a mart in Postgres, every value as text. */
export async function martInPostgres(warehouse: Warehouse, mart: string): Promise<MartRow[]> {
  const columns = await rows(
    warehouse,
    `select column_name as name from information_schema.columns
     where table_schema = 'marts' and table_name = $1 order by ordinal_position`,
    [mart],
  );
  const texts = columns.map(({ name }) => `"${String(name)}"::text`).join(', ');
  return (await rows(warehouse, `select ${texts} from marts.${mart}`)) as MartRow[];
}

/** The rows of a mart that `latest-marts.json` names, every value as text. */
export async function martOnLake(lake: string, mart: string): Promise<MartRow[]> {
  return readParquet(lake, `select columns(*)::varchar from '${await martPath(lake, mart)}'`);
}

/** The path of the file that `latest-marts.json` names. */
export async function martPath(lake: string, mart: string): Promise<string> {
  const pointer = JSON.parse(await readFile(join(lake, 'latest-marts.json'), 'utf8')) as MartsPointer;
  return join(lake, pointer.marts[mart]?.path ?? 'missing');
}

/** The columns of a mart that are doubles: ratios and means. */
export async function doublesOf(warehouse: Warehouse, mart: string): Promise<Set<string>> {
  const doubles = await rows(
    warehouse,
    `select column_name as name from information_schema.columns
     where table_schema = 'marts' and table_name = $1 and data_type = 'double precision'`,
    [mart],
  );
  return new Set(doubles.map(({ name }) => String(name)));
}

export async function martNames(): Promise<string[]> {
  const files = await readdir(join(dbtFolder, 'models', 'marts'));
  return files.filter((file) => file.endsWith('.sql')).map((file) => file.slice(0, -'.sql'.length));
}
