/** A command names a connection or a record that is not there. */
export class UnknownTargetError extends Error {
  override readonly name = 'UnknownTargetError';
}
