import { sql, type RawBuilder } from 'kysely';

/** An interval as Postgres reads it; null: never. */
export function intervalOf(milliseconds: number | null): string | null {
  return milliseconds === null ? null : `${milliseconds} milliseconds`;
}

/** An interval of a table as milliseconds: drivers take it apart into units. */
export function milliseconds(column: string): RawBuilder<number | null> {
  return sql<number | null>`(extract(epoch from ${sql.ref(column)}) * 1000)::bigint`;
}
