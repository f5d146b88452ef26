/** A command that cannot be executed: what it names does not exist, or exists already. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
