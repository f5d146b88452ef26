import type { PoolClient } from 'pg';
import type { RecordScope } from '../record-scope.ts';
import { digitsOf } from '../landing/digits-of.ts';

/**
 * The entries in quarantine that are about a record though they have no ID that is one: the record, where its ID came as a number, and
 * events of its deletion that say too little. What only names it, as a bill names its payments, is about another one.
 */
export async function unnamedEntries(
  client: Pick<PoolClient, 'query'>,
  { connectionId, resource, id }: RecordScope & { id: string },
): Promise<string[]> {
  const { rows } = await client.query<{ entry: string; isEvent: boolean; payload: string }>(
    `select id::text as entry, stream = 'events' as "isEvent", payload
     from sync.quarantine
     where connection_id = $1 and resource = $2 and record_id is null
       and case when stream = 'events' then payload <> '' else $3 ~ '^\\d+$' and strpos(payload, $3) > 0 end`,
    [connectionId, resource.name, id],
  );
  return rows.filter((row) => idsOf(row).includes(id)).map(({ entry }) => entry);
}

function idsOf({ isEvent, payload }: { isEvent: boolean; payload: string }): string[] {
  const content: unknown = JSON.parse(payload);
  const sent = memberOf(isEvent ? memberOf(content, 'data') : content, 'id');
  return typeof sent === 'string' ? [sent] : digitsOf(sent, payload);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
