/** The body of a webhook was not read to its end, so nobody knows whose it was. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused';
  readonly because: RefusedBecause;

  constructor(because: RefusedBecause) {
    super(`The body of a webhook was not read to its end: ${because}.`);
    this.because = because;
  }
}

/** `turned away`: there were too many at a time. `broken off`: by who sent it. */
export type RefusedBecause = 'too large' | 'too slow' | 'turned away' | 'broken off';
