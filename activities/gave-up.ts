import { isOurs } from '../errors/is-ours.ts';

/** Requests kept failing longer, or more often, than a run may wait. The next run restarts the pass with the same limits. */
export class GaveUp extends Error {
  override readonly name = 'GaveUp';
  readonly handling = 'stop';

  /** `howLong` completes "failed …". */
  constructor(stream: string, howLong: string, cause: Error) {
    super(
      `Reading ${stream} failed ${howLong}, so this run gave up on it; the next run restarts it from its watermark. ` +
        `The last failure: ${sayable(cause)}`,
      { cause },
    );
  }
}

/** Only our own messages go into a history: a driver's may quote a record. */
function sayable(cause: Error): string {
  return isOurs(cause) ? cause.message : `an unexpected ${cause.name}, which is in the worker's log.`;
}
