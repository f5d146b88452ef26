/** The body of a webhook was not read to its end, so its signature could not be checked. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused';
  readonly because: RefusedBecause;

  constructor(because: RefusedBecause) {
    super(`The body of a webhook was not read to its end: ${because}.`);
    this.because = because;
  }
}

/** `turned away`: too many bodies at a time. `broken off`: by the sender. */
export type RefusedBecause = 'too large' | 'too slow' | 'turned away' | 'broken off';
