import { resources } from '../../resources/index.ts';
import { rowsPerBatch } from '../transactions/rows-per-batch.ts';
import type { Removal } from './begin-removal.ts';

/** A table from which a removal deletes. */
export interface RemovedTable {
  readonly name: string;
  /** Deletes at most `rowsPerBatch` rows of a connection ($1), and selects their number as `rows`. */
  readonly deleteBatch: string;
}

/** Returns the tables that hold most of a connection's rows, in the order of deletion. Only a few rows are left elsewhere. */
export function listRemovedTables({ keepsData }: Pick<Removal, 'keepsData'>): RemovedTable[] {
  return keepsData ? [...stateTables, openEntries] : [...stateTables, ...dataTables];
}

const runs: RemovedTable = {
  name: 'sync.runs',
  // A run has a row for each of its eight streams.
  deleteBatch: `
    with old as materialized (
      select run_id from sync.runs where connection_id = $1 order by started_at desc limit ${rowsPerBatch / 10}
    ), streams as (
      delete from sync.run_streams where run_id = any(array(select run_id from old)) returning 1
    ), gone as (
      delete from sync.runs where run_id = any(array(select run_id from old)) returning 1
    )
    select (select count(*) from streams) + (select count(*) from gone) as rows`,
};

/** How far a connection was read, and what its runs did. Alerts stay, so that receivers of an alert are also told that it is over. */
const stateTables: readonly RemovedTable[] = [
  table('sync.listed_pages'),
  table('sync.discrepancies'),
  table('sync.webhook_inbox'),
  runs,
];

/** Records that could not land come again with the first sync of the name; entries that a person discarded stay discarded. */
const openEntries = table('sync.quarantine', `and status <> 'discarded'`);

/** Records and what is known about them. */
const dataTables: readonly RemovedTable[] = [
  ...resources
    .flatMap(({ name, children }) => [...children.map((child) => child.table), name])
    .map((name) => table(`finance.${name}`)),
  table('history.record_versions'),
  table('sync.tombstones'),
  table('sync.overruled_deletions'),
  table('sync.field_issues'),
  table('sync.quarantine'),
];

function table(name: string, condition = ''): RemovedTable {
  return {
    name,
    deleteBatch: `
      with gone as (
        delete from ${name}
        where ctid = any(array(select ctid from ${name} where connection_id = $1 ${condition} limit ${rowsPerBatch}))
        returning 1
      )
      select count(*) as rows from gone`,
  };
}
