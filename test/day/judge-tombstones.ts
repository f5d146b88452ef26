import { goneAfter, type SourceOperation } from './source-operation.ts';
import { connections, type DayEnvironment } from './open-day-environment.ts';

/** Judges that a record is provably deleted if the warehouse once had it and the source no longer does, and only then. */
export async function judgeTombstones(
  { warehouse }: Pick<DayEnvironment, 'warehouse'>,
  operations: readonly SourceOperation[],
): Promise<string[]> {
  const complaints: string[] = [];
  for (const connection of connections) {
    const readNames = async (statement: string): Promise<Set<string>> => {
      const { rows } = await warehouse.pool.query<{ name: string }>(statement, [connection]);
      return new Set(rows.map(({ name }) => name));
    };
    const seen = await readNames(
      `select distinct resource || '/' || record_id as name from history.record_versions
       where connection_id = $1 and op = 'upsert'`,
    );
    const deleted = await readNames(
      `select resource || '/' || id as name from finance.deleted_records where connection_id = $1`,
    );
    const gone = goneAfter(operations, connection);
    for (const name of gone) {
      if (seen.has(name) && !deleted.has(name)) complaints.push(`${connection}: ${name} has no tombstone.`);
    }
    for (const name of deleted) {
      if (!gone.has(name))
        complaints.push(`${connection}: ${name} exists at the source, but is marked as deleted.`);
    }
  }
  return complaints;
}
