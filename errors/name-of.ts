/** The name of an error, for places where its message must not be shown: a driver's message may quote a record. */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
