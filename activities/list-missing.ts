import type { NotSupported } from '../source/errors.ts';

/** A 404 for a list that returned pages before. Retried like other failures, because one answer does not prove that a list is gone. */
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
