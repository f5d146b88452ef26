import type { DuckDBConnection } from '@duckdb/node-api';

/** DuckDB in memory; what does not fit is spilled to a folder. */
export interface DuckDb {
  connect(): Promise<DuckDBConnection>;
  close(): void;
}

/** Enough for rows of 60 MB, each of which is there up to eight times; what is usual passes through and takes a tenth of it. */
const memoryMegabytes = 700;

export async function openDuckDb({ spillFolder }: { spillFolder: string }): Promise<DuckDb> {
  // Loaded when it is needed: a worker seldom does, and it would be about a seventh of the work of starting one.
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${memoryMegabytes}MB`,
    temp_directory: spillFolder,
    // One thread keeps rows in their order, and whoever wants more speed opens more of these.
    threads: '1',
    // Else a row group has so many rows, however long they are, and is kept in memory until it is full.
    preserve_insertion_order: 'false',
    // Nothing is fetched from anywhere: what Daybook needs is compiled in.
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

/** A text as SQL writes it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The path of a file that is read, as SQL writes it: DuckDB takes it for a pattern, which may be the name of other folders. */
export function quotedPath(path: string): string {
  return quoted(path.replaceAll(/[[*?]/g, '[$&]'));
}

/** Whether DuckDB reads the files of a folder: in a pattern, it takes a backslash for a slash. */
export function isReadable(folder: string): boolean {
  return !(folder.includes('\\') && /[[*?]/.test(folder));
}

/** A name as SQL writes it: `interval` is a word of the language. */
export function named(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
