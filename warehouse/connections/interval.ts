import { sql, type RawBuilder } from 'kysely';

/** Formats an interval for Postgres; null: never. */
export function formatInterval(milliseconds: number | null): string | null {
  return milliseconds === null ? null : `${milliseconds} milliseconds`;
}

/** Returns SQL for an interval column in milliseconds, because drivers split intervals into units. */
export function milliseconds(column: string): RawBuilder<number | null> {
  return sql<number | null>`(extract(epoch from ${sql.ref(column)}) * 1000)::bigint`;
}
