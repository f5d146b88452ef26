import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { benchTables } from './bench-connection.ts';

/**
 * Measures a lower bound: copies the existing rows out, empties the tables, and copies the same rows back by COPY over one
 * connection. Returns the seconds of copying back.
 */
export async function bareCopy(databaseUrl: string): Promise<number> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const contents = new Map<string, Buffer>();
  for (const table of benchTables)
    contents.set(table, await buffer(client.query(to(`copy ${table} to stdout`))));
  await client.query(`truncate ${benchTables.join(', ')}`);
  const started = performance.now();
  for (const [table, content] of contents) {
    await pipeline(Readable.from(splitIntoChunks(content)), client.query(from(`copy ${table} from stdin`)));
  }
  const seconds = (performance.now() - started) / 1000;
  await client.end();
  return seconds;
}

function* splitIntoChunks(content: Buffer): Generator<Buffer> {
  for (let start = 0; start < content.length; start += 65_536) yield content.subarray(start, start + 65_536);
}
