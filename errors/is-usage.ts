/**
 * Whether a command fails until the command line, the configuration or something else that it requires is changed: a key, a migration, a snapshot,
 * Python. The classes of such errors say so as `isUsage`.
 */
export function isUsage(error: unknown): boolean {
  return error instanceof Error && 'isUsage' in error && error.isUsage === true;
}
