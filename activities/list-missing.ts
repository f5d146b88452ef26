import type { NotSupported } from '../source/errors.ts';

/** 404 of a list that returned pages before: a failure like any other, for a list does not go away by one answer. */
export class ListMissing extends Error {
  override readonly name = 'ListMissing';
  readonly handling = 'retry';

  constructor(cause: NotSupported) {
    const request = cause.requestId === null ? '' : `, request ${cause.requestId}`;
    super(
      `${cause.request} answers that there is no such list (404${request}), although it returned pages before: it is tried again, in every run. ` +
        'Check DAYBOOK_API_URL, and ask the finance API why it is gone. After 7 days of nothing else it counts as not offered.',
      { cause },
    );
  }
}
