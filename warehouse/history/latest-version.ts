/**
 * Returns SQL for the newest version of a record in history: `v.*` of `history.record_versions`, or no row. It is one lookup in the key; `$1` is the
 * connection, `id` an expression.
 */
export function latestVersion(resource: string, id: string): string {
  return `
      select v.*
      from history.record_versions v
      where v.connection_id = $1 and v.resource = '${resource}' and v.record_id = ${id}
      order by v.recorded_at desc
      limit 1`;
}
