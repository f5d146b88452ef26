/** Which rows were being written. */
export interface PlaceOfFailure {
  readonly table: string;
  /** Whose they are; undefined: everybody's. */
  readonly connections: readonly string[] | undefined;
}

/** The error, which says from now on where it happened. */
export function withPlace(error: unknown, { table, connections = [] }: PlaceOfFailure): unknown {
  if (!(error instanceof Error)) return error;
  // Of so many that an operator can look at each.
  const isNamed = connections.length > 0 && connections.length <= 8;
  return Object.assign(error, { place: isNamed ? `${table} of ${connections.join(', ')}` : table });
}

/** Empty where none is known. */
export function placeOf(error: unknown): string {
  return error instanceof Error && 'place' in error ? String(error.place) : '';
}
