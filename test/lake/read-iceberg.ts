import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Manifest } from '../../lake/manifest.ts';
import { libpqAddress } from '../../python/libpq-address.ts';
import { pythonEnvironment } from '../support/python-environment.ts';

/** By snapshot and table. Sums have no zeros at their end. */
export type IcebergSeen = Readonly<Record<string, Readonly<Record<string, TableSeen>>>>;

export interface TableSeen {
  readonly rows: number;
  readonly columns: Readonly<Record<string, string>>;
  readonly sums: Readonly<Record<string, string>>;
}

const readers = [
  'pyiceberg[pyarrow,sql-postgres]==0.12.0',
  'duckdb==1.5.5',
  ...['avro', 'httpfs', 'iceberg'].map((name) => `duckdb-extension-${name}==1.5.5`),
];

/** What somebody sees who may read: every table, or some, of every snapshot that is said to be complete. */
export async function readIceberg(
  databaseUrl: string,
  {
    reader,
    namespace = 'finance',
    tables = [],
  }: { reader: 'pyiceberg' | 'duckdb'; namespace?: 'finance' | 'marts'; tables?: readonly string[] },
): Promise<IcebergSeen> {
  const python = join(await pythonEnvironment(readers), 'bin', 'python');
  const program = fileURLToPath(new URL('./read_iceberg.py', import.meta.url));
  const { stdout } = await promisify(execFile)(python, [program, reader, namespace, ...tables], {
    env: { ...process.env, ...readerOf(databaseUrl) },
    maxBuffer: 64_000_000,
  });
  return JSON.parse(stdout) as IcebergSeen;
}

/** In the role that people query with. */
function readerOf(databaseUrl: string): Record<string, string> {
  const { host, port, user, password, dbname } = libpqAddress(databaseUrl, '');
  return {
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: password,
    PGDATABASE: dbname,
    PGOPTIONS: '-c search_path=iceberg -c role=daybook_reader',
  };
}

/** What the manifest says of each table, as readers say it. */
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
