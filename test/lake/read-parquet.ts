import { DuckDBInstance } from '@duckdb/node-api';

/** Rows of a query as text, read by a DuckDB independent of the product's. `{lake}` stands for the snapshot's folder. */
export async function readParquet(folder: string, query: string): Promise<Record<string, string | null>[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    await connection.run("set timezone = 'UTC'");
    const read = await connection.runAndReadAll(query.replaceAll('{lake}', folder));
    const names = read.columnNames();
    return read.getRows().map((row: readonly unknown[]) => {
      const values = row.map((value, index) => [names[index] ?? '', inWords(value)]);
      return Object.fromEntries(values) as Record<string, string | null>;
    });
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** DuckDB's values have a `toString`. */
function inWords(value: unknown): string | null {
  return value === null ? null : (value as { toString: () => string }).toString();
}
