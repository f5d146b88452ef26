import type { PoolClient } from 'pg';
import type { RecordScope } from '../record-scope.ts';
import { digitsOf } from '../landing/digits-of.ts';

/**
 * Lists quarantine entries that are about a record but have no usable ID: the record itself, if its ID came as a number, and incomplete events of its
 * deletion. An entry that only names the record, as a bill names its payments, is about another one.
 */
export async function unnamedEntries(
  client: Pick<PoolClient, 'query'>,
  { connectionId, resource, id }: RecordScope & { id: string },
): Promise<string[]> {
  const { rows } = await client.query<{ entry: string; bytes: number }>(
    `select id::text as entry, octet_length(payload) as bytes
     from sync.quarantine
     where connection_id = $1 and resource = $2 and record_id is null
       and case when stream = 'events' then payload <> '' else $3 ~ '^\\d+$' and strpos(payload, $3) > 0 end`,
    [connectionId, resource.name, id],
  );
  const named: string[] = [];
  for (const entries of inBatches(rows)) {
    const { rows: read } = await client.query<{ entry: string; isEvent: boolean; payload: string }>(
      `select id::text as entry, stream = 'events' as "isEvent", payload from sync.quarantine where id = any($1::bigint[])`,
      [entries],
    );
    named.push(...read.filter((row) => readIds(row).includes(id)).map(({ entry }) => entry));
  }
  return named;
}

/** Splits entries into batches that fit into memory, as a response of the API does. */
function inBatches(rows: readonly { entry: string; bytes: number }[]): string[][] {
  const batches: string[][] = [];
  let room = 0;
  for (const { entry, bytes } of rows) {
    if (bytes > room) {
      batches.push([]);
      room = batchBytes;
    }
    room -= bytes;
    batches.at(-1)?.push(entry);
  }
  return batches;
}

const batchBytes = 32_000_000;

function readIds({ isEvent, payload }: { isEvent: boolean; payload: string }): string[] {
  const content: unknown = JSON.parse(payload);
  const sent = readMember(isEvent ? readMember(content, 'data') : content, 'id');
  return typeof sent === 'string' ? [sent] : digitsOf(sent, payload);
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
