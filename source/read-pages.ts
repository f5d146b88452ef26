import type { ApiClient, ListRequest } from './api-client.ts';
import { AnswerTooLarge, CursorNotMoving, CursorRefused, RequestRefused } from './errors.ts';
import type { ListPage } from './responses.ts';

export interface Reading extends ListRequest {
  /** The cursor at which an earlier reading of the same stream with the same filters stopped; null for the first page. */
  readonly cursor: string | null;
  /** Records per page; default: 500, the largest page in the document (API document 8). */
  readonly limit?: number;
  /** The maximum number of pages to request. */
  readonly pages?: number;
}

/**
 * Yields the pages of a stream, in order, as returned by `prepare`, which receives the cursor of the page's request. Each page is requested and
 * prepared while the caller still works on the previous one, so that the caller's database work and the preparation overlap. If the next
 * page fails, the error is thrown when that page is due; if the caller leaves early, its request is aborted.
 *
 * Throws the errors of ApiClient.list, CursorNotMoving and, if the service no longer accepts the cursor, CursorRefused.
 */
export async function* readPages<Prepared>(
  client: ApiClient,
  reading: Reading,
  prepare: (page: ListPage, cursor: string | null) => Prepared | Promise<Prepared>,
): AsyncGenerator<Prepared, void, void> {
  const leave = new AbortController();
  const signal =
    reading.signal === undefined ? leave.signal : AbortSignal.any([reading.signal, leave.signal]);
  const ask = pageAsker(client, { ...reading, signal });
  const request = (cursor: string | null, awaited?: Promise<void>): Promise<Settled<Prepared>> =>
    settled(ask(cursor, awaited), (page) => prepare(page, cursor));
  let pending = request(reading.cursor);
  try {
    for (let page = 1; ; page += 1) {
      const { prepared, nextCursor } = unwrap(await pending);
      const isLast = nextCursor === null || page === reading.pages;
      let waitForNext = (): void => undefined;
      const awaited = new Promise<void>((resolve) => {
        waitForNext = resolve;
      });
      if (!isLast) pending = request(nextCursor, awaited);
      yield prepared;
      if (isLast) return;
      waitForNext();
    }
  } finally {
    leave.abort();
    await pending;
  }
}

/**
 * A service may refuse a `limit` that it finds too large (its maximum is not documented): the reading then continues with the service's default.
 * If the refusal persists and there is a cursor, the cursor was refused. A page that is too large for us is requested again with a tenth of the
 * records, down to one, and so are the following ones.
 */
function pageAsker(
  client: ApiClient,
  reading: Reading,
): (cursor: string | null, awaited?: Promise<void>) => Promise<ListPage> {
  const { query } = reading;
  let limit = reading.limit ?? 500;
  let sendsLimit = true;
  return async function ask(cursor, awaited): Promise<ListPage> {
    const limitSent = sendsLimit ? { limit: String(limit) } : {};
    const cursorSent = cursor === null ? {} : { cursor };
    try {
      const page = await client.list({
        ...reading,
        awaited,
        query: { ...query, ...limitSent, ...cursorSent },
      });
      if (page.nextCursor !== null && page.nextCursor === cursor) throw notMoving(reading, page);
      return page;
    } catch (error) {
      // The service's default may be too large after a refused limit: a smaller one may be accepted.
      if (error instanceof AnswerTooLarge && limit > 1) {
        limit = Math.ceil(limit / 10);
        sendsLimit = true;
        return await ask(cursor, awaited);
      }
      if (!isBadRequest(error)) throw error;
      if (sendsLimit) {
        sendsLimit = false;
        return await ask(cursor, awaited);
      }
      throw cursor === null ? error : new CursorRefused(error);
    }
  };
}

function notMoving({ path }: Reading, { requestId }: ListPage): Error {
  return new CursorNotMoving({ request: `GET ${path}`, status: 200, errorCode: null, requestId });
}

function isBadRequest(error: unknown): error is RequestRefused {
  return error instanceof RequestRefused && error.status === 400;
}

type Settled<Prepared> = Ready<Prepared> | { readonly error: unknown };

interface Ready<Prepared> {
  readonly prepared: Prepared;
  readonly nextCursor: string | null;
}

/** Keeps a failure until its page is due, instead of an unhandled rejection. */
function settled<Prepared>(
  page: Promise<ListPage>,
  prepare: (page: ListPage) => Prepared | Promise<Prepared>,
): Promise<Settled<Prepared>> {
  return page
    .then(async (page) => ({ prepared: await prepare(page), nextCursor: page.nextCursor }))
    .catch((error: unknown) => ({ error }));
}

function unwrap<Prepared>(settled: Settled<Prepared>): Ready<Prepared> {
  if ('error' in settled) throw settled.error;
  return settled;
}
