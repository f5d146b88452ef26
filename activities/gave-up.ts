/** Requests kept failing for longer than a run may wait. The next run goes on from the last committed page. */
export class GaveUp extends Error {
  override readonly name = 'GaveUp';
  readonly handling = 'stop';

  constructor(stream: string, failingMilliseconds: number, cause: Error) {
    super(
      `Reading ${stream} kept failing for ${Math.round(failingMilliseconds / 1000)} s and was given up in this run; ` +
        `the next one goes on from the last page. The last failure: ${cause.message}`,
      { cause },
    );
  }
}
