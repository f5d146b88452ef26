import type { PoolClient } from 'pg';
import type { Resource } from '../../resources/resource.ts';
import { streamsOf } from '../../resources/streams-of.ts';
import type { RecordScope } from '../record-scope.ts';
import { idInJson } from './id-in-json.ts';
import { toldByWebhooks } from './told-by-webhooks.ts';
import { unnamedEntries } from './unnamed-entries.ts';

/** A table that holds content of records. */
export interface Place {
  readonly table: string;
  /** Values of the SQL: $1 is the connection, $2 the ID of the record; further ones depend on the place. */
  readonly values: readonly unknown[];
  /** The condition of the rows that hold content of the record. */
  readonly where: string;
  /** The statement that removes the content. */
  readonly erase: string;
}

/** Lists every table that Daybook loads and that may hold content of a record. */
export async function placesOfContent(
  client: Pick<PoolClient, 'query'>,
  { connectionId, resource, id }: RecordScope & { id: string },
): Promise<readonly Place[]> {
  const { name, children } = resource;
  const values = [connectionId, id];
  const { part, pattern } = idInJson(id);
  const unnamed = await unnamedEntries(client, { connectionId, resource, id });
  const record = `connection_id = $1 and resource = '${name}' and record_id = $2`;
  const places: readonly (Statements & Partial<Place>)[] = [
    ...children.map(({ table, parentKey }) =>
      deleted(`finance.${table}`, `connection_id = $1 and ${parentKey} = $2`),
    ),
    deleted(`finance.${name}`, 'connection_id = $1 and id = $2'),
    deleted('history.record_versions', record),
    { ...quarantined(resource), values: [...values, unnamed] },
    deleted('sync.field_issues', record),
    deleted('sync.discrepancies', record),
    listedPages(resource),
    // The deletion stays known, so that no late page brings the record back.
    emptied('sync.tombstones', { payload: 'null', where: `${record} and payload is not null` }),
    // The digest stays, so that a second delivery is recognized.
    {
      ...emptied('sync.webhook_inbox', { payload: `'{}'`, where: toldByWebhooks(resource) }),
      values: [...values, part, pattern],
    },
  ];
  return places.map((place) => ({ values, ...place }));
}

/** Finds entries by ID, or by its digest if it is too long to be a key. $3: `unnamedEntries`. */
function quarantined({ name }: Resource): Statements {
  return deleted(
    'sync.quarantine',
    `connection_id = $1 and resource = '${name}'
       and ($2 in (record_id, entry_key) or entry_key = encode(sha256(convert_to($2, 'UTF8')), 'hex')
         or id = any($3::bigint[]))`,
  );
}

/** Pages of a listing that is open or was given up. They are compared with the held records, from which this one is gone too. */
function listedPages(resource: Resource): Statements {
  const table = 'sync.listed_pages';
  const streams = streamsOf(resource).map((stream) => `'${stream}'`);
  const where = `connection_id = $1 and stream in (${streams.join(', ')})
       and exists (select from jsonb_array_elements(records) as listed (record) where record ->> 0 = $2)`;
  const others = `
       select coalesce(jsonb_agg(record order by place), '[]')
       from jsonb_array_elements(records) with ordinality as listed (record, place)
       where record ->> 0 <> $2`;
  return { table, where, erase: `update ${table} set records = (${others}) where ${where}` };
}

function deleted(table: string, where: string): Statements {
  return { table, where, erase: `delete from ${table} where ${where}` };
}

function emptied(table: string, { payload, where }: { payload: string; where: string }): Statements {
  return { table, where, erase: `update ${table} set payload = ${payload} where ${where}` };
}

type Statements = Omit<Place, 'values'>;
