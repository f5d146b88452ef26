import type { ApiClient, ListRequest } from './api-client.ts';
import { AnswerTooLarge, CursorNotMoving, CursorRefused, RequestRefused } from './errors.ts';
import type { ListPage } from './responses.ts';

export interface Reading extends ListRequest {
  /** Where an earlier reading of the same stream with the same filters stopped; null for its first page. */
  readonly cursor: string | null;
  /** Records asked for with each page: 500, the largest page the document knows of (API document 8), when not given. */
  readonly limit?: number;
  /** Pages read at most: none is asked for beyond them. */
  readonly pages?: number;
}

/**
 * The pages of a stream, in order, as `prepare` returns them; it is given the cursor that the page was asked for with. Each is asked for
 * and prepared while the caller still works on the one before: what the caller's database is busy with and what is computed here then cost
 * no time twice. The error of such a page comes when that page is asked for; a caller that leaves early ends the request for it.
 *
 * Throws the errors of ApiClient.list, CursorNotMoving and, when the service no longer takes the cursor, CursorRefused.
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
 * A service may refuse a `limit` that it finds too large (its maximum is not documented): then the reading goes on with the
 * service's own. A refusal that stays was about the cursor, where there was one. A page too large for us is asked for again with
 * a tenth of the records, down to one, and so are those after it.
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
      if (error instanceof AnswerTooLarge && sendsLimit && limit > 1) {
        limit = Math.ceil(limit / 10);
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

/** A failure waits here until its page is asked for, instead of being an unhandled rejection. */
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
