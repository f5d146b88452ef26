import type { Resource } from '../../resources/resource.ts';
import { streamsOf } from '../reconcile/streams-of.ts';
import { toldByWebhooks } from './told-by-webhooks.ts';

/** A table that holds content of records. In its SQL, $1 is the connection and $2 the ID of the record. */
export interface Place {
  readonly table: string;
  /** Which rows hold content of the record. */
  readonly where: string;
  /** What takes it away. */
  readonly erase: string;
}

/** Every table that Daybook loads and that may hold content of a record of this resource. */
export function placesOfContent(resource: Resource): readonly Place[] {
  const { name, children } = resource;
  const record = `connection_id = $1 and resource = '${name}' and record_id = $2`;
  return [
    ...children.map(({ table, parentKey }) =>
      deleted(`finance.${table}`, `connection_id = $1 and ${parentKey} = $2`),
    ),
    deleted(`finance.${name}`, 'connection_id = $1 and id = $2'),
    deleted('history.record_versions', record),
    deleted(
      'sync.quarantine',
      // By its digest, where the ID is too long to be a key; by its digits, where it came as a number, which is no ID.
      String.raw`connection_id = $1 and resource = '${name}'
       and ($2 in (record_id, entry_key) or entry_key = encode(sha256(convert_to($2, 'UTF8')), 'hex')
         or record_id is null and $2 ~ '^\d+$' and payload ~ ('"id"\s*:\s*' || $2 || '[^0-9.eE]'))`,
    ),
    deleted('sync.field_issues', record),
    deleted('sync.discrepancies', record),
    listedPages(resource),
    // That it was deleted stays known, so that no late page brings it back.
    emptied('sync.tombstones', { payload: 'null', where: `${record} and payload is not null` }),
    // A second delivery is recognized by the digest, which stays.
    emptied('sync.webhook_inbox', { payload: `'{}'`, where: toldByWebhooks(resource) }),
  ];
}

/** What an open listing, or one that was given up, was shown: it is compared with what is held, where the record is no more either. */
function listedPages(resource: Resource): Place {
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

function deleted(table: string, where: string): Place {
  return { table, where, erase: `delete from ${table} where ${where}` };
}

function emptied(table: string, { payload, where }: { payload: string; where: string }): Place {
  return { table, where, erase: `update ${table} set payload = ${payload} where ${where}` };
}
