import type { PoolClient } from 'pg';
import { filtersOf } from '../../resources/resource.ts';
import type { RecordScope } from '../record-scope.ts';

/**
 * Notes that the service has answered with these records, which are held. If their list never returned a page, it is offered after all: conclusions
 * from 404s are void, the next run requests it, and from then on a 404 is a failure.
 */
export async function noteOffered(
  client: PoolClient,
  { connectionId, resource, ids }: RecordScope & { readonly ids: readonly string[] },
): Promise<void> {
  const values: unknown[] = [connectionId, ids];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const shows = resource.streams.map((stream) => {
    const filters = filtersOf(resource, stream);
    const ofStream = filters.map(([column, value]) => ` and f.${column} = ${parameter(value)}`).join('');
    return `s.stream = ${parameter(stream.name)} and exists (
      select from finance.${resource.name} f where f.connection_id = $1 and f.id = any($2::text[])${ofStream}
    )`;
  });
  await client.query(
    `update sync.streams s set capability = 'unknown', capability_checked_at = null, listed_at = clock_timestamp()
     where s.connection_id = $1 and s.listed_at is null and (${shows.join(' or ')})`,
    values,
  );
}
