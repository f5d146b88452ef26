import { join } from 'node:path';
import { pythonEnvironment } from '../support/python-environment.ts';

const readers = [
  'pyiceberg[pyarrow,sql-postgres]==0.12.0',
  'duckdb==1.5.5',
  ...['avro', 'httpfs', 'iceberg'].map((name) => `duckdb-extension-${name}==1.5.5`),
];

/** The Python that has PyIceberg. */
export async function pythonWithReaders(): Promise<string> {
  return join(await pythonEnvironment(readers), 'bin', 'python');
}
