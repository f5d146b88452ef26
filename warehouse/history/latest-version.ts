/**
 * In SQL, what history has last of a record: `v.*` of `history.record_versions`, or no row. One look-up in its key; `$1` is the connection.
 * `id`: an expression.
 */
export function latestVersion(resource: string, id: string): string {
  return `
      select v.*
      from history.record_versions v
      where v.connection_id = $1 and v.resource = '${resource}' and v.record_id = ${id}
      order by v.recorded_at desc
      limit 1`;
}
