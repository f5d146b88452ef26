/** The run ended while this attempt was still reading for it. If the run has not ended after all, the next attempt continues. */
export class RunOver extends Error {
  override readonly name = 'RunOver';
  readonly handling = 'retry';

  constructor(stream: string) {
    super(`The run that read ${stream} is over, so this attempt stopped; nothing is lost.`);
  }
}
