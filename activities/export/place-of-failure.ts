/** The rows that were being written. */
export interface PlaceOfFailure {
  readonly table: string;
  /** The connections of the rows; undefined: all. */
  readonly connections: readonly string[] | undefined;
}

/** Adds to the error the place where it happened. */
export function withPlace(error: unknown, { table, connections = [] }: PlaceOfFailure): unknown {
  if (!(error instanceof Error)) return error;
  // Named only if they are few enough for an operator to check each.
  const isNamed = connections.length > 0 && connections.length <= 8;
  return Object.assign(error, { place: isNamed ? `${table} of ${connections.join(', ')}` : table });
}

/** Returns an empty string if none is known. */
export function placeOfFailure(error: unknown): string {
  return error instanceof Error && 'place' in error ? String(error.place) : '';
}
