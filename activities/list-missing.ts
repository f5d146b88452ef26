import type { NotSupported } from '../source/errors.ts';

/** 404 of a list that returned pages before: a failure like any other, for a list does not go away by one answer. */
export class ListMissing extends Error {
  override readonly name = 'ListMissing';
  readonly handling = 'retry';

  constructor(cause: NotSupported) {
    const request = cause.requestId === null ? '' : `, request ${cause.requestId}`;
    super(
      `${cause.request} returned 404 (no such list${request}), although it returned pages before; every run retries it. ` +
        'Check DAYBOOK_API_URL, and ask the finance API why it is gone. After 7 days of nothing but 404 it counts as not offered.',
      { cause },
    );
  }
}
