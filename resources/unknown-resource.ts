export class UnknownResource extends Error {
  override readonly name = 'UnknownResource';
  readonly handling = 'stop';
  readonly isUsage = true;

  constructor(unknown: readonly string[], known: readonly string[]) {
    super(`There is no resource ${unknown.join(', ')}. The resources are ${known.join(', ')}.`);
  }
}
