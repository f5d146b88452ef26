/** A command that cannot be executed: what it names is not there, or there already. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
