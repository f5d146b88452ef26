import { sql } from 'kysely';

/** Connections and resources with open entries: each is found by index after the previous one, however many entries that has. */
export const listedInQuarantine = sql`
  with recursive listed as (
    (
      select connection_id, resource from sync.quarantine
      where status = 'open'
      order by connection_id, resource
      limit 1
    )
    union all
    select next.connection_id, next.resource
    from listed
    cross join lateral (
      select q.connection_id, q.resource from sync.quarantine q
      where q.status = 'open' and (q.connection_id, q.resource) > (listed.connection_id, listed.resource)
      order by q.connection_id, q.resource
      limit 1
    ) next
  )
  select connection_id, resource from listed`;
