import type { DuckDBConnection } from '@duckdb/node-api';
import { openDuckDb, quoted } from '../lake/parquet/duck-db.ts';

/** Runs `work` on the DuckDB database of a finished build, which is attached as `built`. */
export async function withFinishedMarts<Result>(
  { database, scratch }: { readonly database: string; readonly scratch: string },
  work: (connection: DuckDBConnection) => Promise<Result>,
): Promise<Result> {
  const duckDb = await openDuckDb({ spillFolder: scratch });
  try {
    const connection = await duckDb.connect();
    await connection.run(`attach ${quoted(database)} as built (read_only)`);
    return await work(connection);
  } finally {
    duckDb.close();
  }
}
