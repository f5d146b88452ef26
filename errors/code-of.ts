/** Returns an error's code: of Node (`ENOENT`), Postgres (`57014`), gRPC (5), a process's exit; undefined if it has none. */
export function codeOf(error: unknown): string | number | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' || typeof error.code === 'number' ? error.code : undefined;
}
