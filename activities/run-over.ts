/** The run was ended while this attempt still read for it. Where it was not, the next attempt goes on. */
export class RunOver extends Error {
  override readonly name = 'RunOver';
  readonly handling = 'retry';

  constructor(stream: string) {
    super(`The run that read ${stream} is over, so this attempt stopped; nothing is lost.`);
  }
}
