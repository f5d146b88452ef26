import { goneAfter, type Deed } from './deed.ts';
import { connections, type Company } from './open-company.ts';

/** Judges that a record is provably deleted if the warehouse once had it and the source no longer does, and only then. */
export async function judgeTombstones(
  { warehouse }: Pick<Company, 'warehouse'>,
  deeds: readonly Deed[],
): Promise<string[]> {
  const complaints: string[] = [];
  for (const connection of connections) {
    const namesOf = async (statement: string): Promise<Set<string>> => {
      const { rows } = await warehouse.pool.query<{ name: string }>(statement, [connection]);
      return new Set(rows.map(({ name }) => name));
    };
    const seen = await namesOf(
      `select distinct resource || '/' || record_id as name from history.record_versions
       where connection_id = $1 and op = 'upsert'`,
    );
    const deleted = await namesOf(
      `select resource || '/' || id as name from finance.deleted_records where connection_id = $1`,
    );
    const gone = goneAfter(deeds, connection);
    for (const name of gone) {
      if (seen.has(name) && !deleted.has(name)) complaints.push(`${connection}: ${name} has no tombstone.`);
    }
    for (const name of deleted) {
      if (!gone.has(name)) complaints.push(`${connection}: ${name} lives, and counts as deleted.`);
    }
  }
  return complaints;
}
