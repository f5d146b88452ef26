import type { Resource } from '../../resources/resource.ts';

/** A table that holds content of records. In its SQL, $1 is the connection and $2 the ID of the record. */
export interface Place {
  readonly table: string;
  /** Which rows hold content of the record. */
  readonly where: string;
  /** What takes it away. */
  readonly erase: string;
}

/** Every table that Daybook loads and that may hold content of a record of this resource. */
export function placesOfContent({ name, children }: Resource): readonly Place[] {
  const record = `connection_id = $1 and resource = '${name}' and record_id = $2`;
  return [
    ...children.map(({ table, parentKey }) =>
      deleted(`finance.${table}`, `connection_id = $1 and ${parentKey} = $2`),
    ),
    deleted(`finance.${name}`, 'connection_id = $1 and id = $2'),
    deleted('history.record_versions', record),
    deleted(
      'sync.quarantine',
      // By its digest, where the ID is too long to be a key.
      `connection_id = $1 and resource = '${name}'
       and ($2 in (record_id, entry_key) or entry_key = encode(sha256(convert_to($2, 'UTF8')), 'hex'))`,
    ),
    deleted('sync.field_issues', record),
    deleted('sync.discrepancies', record),
    // That it was deleted stays known, so that no late page brings it back.
    emptied('sync.tombstones', { payload: 'null', where: `${record} and payload is not null` }),
    // A second delivery is recognised by the digest, which stays.
    emptied('sync.webhook_inbox', {
      payload: `'{}'`,
      where: `${toldOf} and resource = '${name}' and record_id = $2 and payload <> '{}'`,
    }),
  ];
}

/** A webhook that came before the first sync found no connection with its identity. */
const toldOf = `(
  connection_id = $1 or connection_id is null
  and service_connection_id = (select service_connection_id from sync.connections where connection_id = $1)
)`;

function deleted(table: string, where: string): Place {
  return { table, where, erase: `delete from ${table} where ${where}` };
}

function emptied(table: string, { payload, where }: { payload: string; where: string }): Place {
  return { table, where, erase: `update ${table} set payload = ${payload} where ${where}` };
}
