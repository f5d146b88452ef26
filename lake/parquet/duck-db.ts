import type { DuckDBConnection } from '@duckdb/node-api';

/** DuckDB in memory; it spills to a folder. */
export interface DuckDb {
  connect(): Promise<DuckDBConnection>;
  close(): void;
}

/** Enough for rows of 60 MB, of which DuckDB holds up to eight copies; usual rows are streamed and take a tenth of it. */
const memoryMegabytes = 700;

export async function openDuckDb({ spillFolder }: { spillFolder: string }): Promise<DuckDb> {
  // Loaded on demand: a worker seldom needs it, and it would take about a seventh of the startup time.
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${memoryMegabytes}MB`,
    temp_directory: spillFolder,
    // One thread keeps rows in their order; for more speed, open more instances.
    threads: '1',
    // Otherwise a row group has a fixed number of rows, however long they are, and is kept in memory until it is full.
    preserve_insertion_order: 'false',
    // Nothing is downloaded: the needed extensions are compiled in.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  return {
    async connect() {
      const connection = await instance.connect();
      await connection.run("set timezone = 'UTC'");
      return connection;
    },
    close: () => {
      instance.closeSync();
    },
  };
}

/** Quotes a text as an SQL literal. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Quotes the path of a file to read: DuckDB treats paths as patterns, which may match other folders. */
export function quotedPath(path: string): string {
  return quoted(path.replaceAll(/[[*?]/g, '[$&]'));
}

/** Whether DuckDB can read the files of a folder: in a pattern, it treats a backslash as a slash. */
export function isReadable(folder: string): boolean {
  return !(folder.includes('\\') && /[[*?]/.test(folder));
}

/** Quotes a name for SQL: `interval` is a keyword. */
export function named(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
