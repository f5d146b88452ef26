import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Manifest } from '../../lake/manifest/manifest.ts';
import { libpqAddress } from '../../python/libpq-address.ts';
import { bypassPooler } from '../support/bypass-pooler.ts';
import { askReaders } from './ask-readers.ts';
import { pythonWithReaders } from './python-with-readers.ts';

/** Results by snapshot and table. Sums have no trailing zeros. */
export type IcebergSeen = Readonly<Record<string, Readonly<Record<string, TableSeen>>>>;

export interface TableSeen {
  readonly rows: number;
  readonly columns: Readonly<Record<string, string>>;
  readonly sums: Readonly<Record<string, string>>;
}

export type IcebergReader = 'pyiceberg' | 'duckdb' | 'spark';

/** Spark is read only if TEST_SPARK_PYTHON names a Python with PySpark, which takes 400 MB and Java. */
const { TEST_SPARK_PYTHON: sparkPython } = process.env;

/** The readers available here. */
export const icebergReaders: readonly IcebergReader[] =
  sparkPython === undefined ? ['pyiceberg', 'duckdb'] : ['pyiceberg', 'duckdb', 'spark'];

/** Reads, as a reader role sees them, all or some tables of every snapshot marked complete. */
export async function readIceberg(
  databaseUrl: string,
  {
    reader,
    namespace = 'finance',
    tables = [],
    moved,
  }: {
    reader: IcebergReader;
    namespace?: 'finance' | 'marts';
    tables?: readonly string[];
    /** The lake that the tables name, and the present place of its files. Only PyIceberg supports this. */
    moved?: { readonly from: string; readonly to: string };
  },
): Promise<IcebergSeen> {
  const args = [namespace, ...tables];
  const env = {
    ...process.env,
    ...readerOf(databaseUrl),
    ...(moved && { LAKE_MOVED_FROM: moved.from, LAKE_MOVED_TO: moved.to }),
  };
  const said = await (reader === 'spark'
    ? askSpark(args, env)
    : askReaders({ program: 'read_iceberg.py', args: [reader, ...args], env }));
  return JSON.parse(said) as IcebergSeen;
}

async function askSpark(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const file = fileURLToPath(new URL('read_iceberg_spark.py', import.meta.url));
  const options = { env, maxBuffer: 64_000_000 };
  const { stdout } = await promisify(execFile)(sparkPython ?? '', [file, ...args], options);
  return stdout;
}

/** Runs a program from the docs, with the extensions of DuckDB from PyPI. Returns the printed lines. */
export async function runWithReaders(databaseUrl: string, program: string): Promise<string[]> {
  const python = await pythonWithReaders();
  const load = `
import glob, duckdb_extension_avro, duckdb_extension_iceberg
for module in (duckdb_extension_avro, duckdb_extension_iceberg):
    duckdb.sql(f"load '{glob.glob(module.__path__[0] + '/extensions/*/*.duckdb_extension')[0]}'")
`;
  const here = program.replace(/^duckdb\.sql\("install iceberg"\)\nduckdb\.sql\("load iceberg"\)$/m, load);
  const { stdout } = await promisify(execFile)(python, ['-c', here], {
    env: { ...process.env, WAREHOUSE_URL: bypassPooler(databaseUrl) },
  });
  return stdout.trimEnd().split('\n');
}

/** The environment of the role with which people query. */
export function readerOf(databaseUrl: string): Record<string, string> {
  const { host, port, user, password, dbname } = libpqAddress(bypassPooler(databaseUrl), '');
  return {
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: password,
    PGDATABASE: dbname,
    PGOPTIONS: '-c search_path=iceberg -c role=daybook_reader',
  };
}

/** The facts in the manifest about each table, in the form that readers return. */
export function manifestSeen(
  { tables }: Manifest,
  only: readonly string[] = Object.keys(tables),
): Record<string, Pick<TableSeen, 'rows' | 'sums'>> {
  const wanted = Object.entries(tables).filter(([name]) => only.includes(name));
  return Object.fromEntries(
    wanted.map(([name, { rows, sums }]) => [
      name,
      {
        rows,
        sums: Object.fromEntries(Object.entries(sums).map(([column, sum]) => [column, shortest(sum)])),
      },
    ]),
  );
}

function shortest(sum: string): string {
  return sum.includes('.') ? sum.replace(/\.?0+$/, '') : sum;
}
