import type { Stream } from '../resources/resource.ts';
import { sentIdOf, type SourceRecord } from '../resources/source-record.ts';
import { isWellFormed } from '../resources/well-formed.ts';
import type { ApiClient } from '../source/api-client.ts';
import { NotSupported, RecordGone } from '../source/errors.ts';
import { listOfStream } from '../source/lists.ts';
import { readPages } from '../source/read-pages.ts';
import type { RecordScope } from '../warehouse/record-scope.ts';
import { askForRecords } from '../requests/ask-for-records.ts';
import type { CompanyProof } from '../requests/company-proof.ts';
import { retryingFetch } from '../requests/retry-with-deadline.ts';

/** The next sync would bring back a record that is erased here. */
export class StillReturned extends Error {
  override readonly name = 'StillReturned';
  readonly handling = 'stop';

  constructor({ connectionId, resource, id }: RecordScope & { id: string }) {
    super(
      `The source still returns ${id} of ${resource.name} for ${connectionId}, so nothing was erased: delete it there first.`,
    );
  }
}

/** The answers of the service do not prove that the record is gone. */
class NotSurelyGone extends Error {
  override readonly name = 'NotSurelyGone';
  readonly handling = 'stop';

  constructor({ connectionId, resource, id }: RecordScope & { id: string }, why: string) {
    super(
      `It is not certain that ${id} of ${resource.name} is gone for ${connectionId}, so nothing was erased: ${why}`,
    );
  }
}

const noFetch =
  'fetching it proves nothing: the service fetches no record of this resource, or returned a different one. Run "daybook reconcile" first: it lists all records twice.';

const listLags =
  'it was written here a moment ago, and a list may not show it yet. Try again after DAYBOOK_LOOKBACK has passed.';

/**
 * Makes sure that the service no longer has a record. First, its lists must show other records of the right company: an address that answers 404
 * to everything proves nothing. If the record can be fetched, only the first page of a list is read: a list may lag behind, and records on later
 * pages are older than the returned time, which is the service's if it sent one (null: it did not). If the record cannot be fetched, two complete
 * listings prove its absence, as in a reconcile: a record that moves between two pages is on neither. The same holds if a fetch proves nothing
 * and the record is no longer held: for a record that was merged into another, the service returns the other one forever. `mayLag`: the list
 * may not show a held record yet. Throws StillReturned, NotSurelyGone, IdentityChanged, and the errors of the service.
 */
export async function confirmGone(
  source: { api: ApiClient; proof: CompanyProof },
  asked: RecordScope & { id: string; accessToken: string; isHeld: boolean; mayLag: boolean },
): Promise<Date | null> {
  const { resource, id, accessToken, isHeld, mayLag } = asked;
  const listTwice = async (): Promise<Date | null> => {
    await listWithout(source, asked, 'all pages');
    return (await listWithout(source, asked, 'all pages')).began;
  };
  if (!resource.fetchable) {
    const began = await listTwice();
    if (mayLag) throw new NotSurelyGone(asked, listLags);
    return began;
  }
  const { listed } = await listWithout(source, asked, 'first page');
  const { fetch, proveAbsence } = askForRecords({
    api: retryingFetch(source.api),
    resource,
    accessToken,
    readAlive: () => Promise.resolve(listed),
  });
  const gone = await fetch(id).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof RecordGone) return error;
      throw error;
    },
  );
  if (gone === undefined) throw new StillReturned(asked);
  if ((await proveAbsence(gone, id)) === 'unproved') {
    if (isHeld) throw new NotSurelyGone(asked, noFetch);
    return listTwice();
  }
  // A refusal names no company.
  await source.proof.requireNow(null);
  return gone.servedAt;
}

/**
 * Returns some ids from the lists, and the service's time at the start. A list that the platform lacks counts as empty if the record itself is
 * fetched too. Throws StillReturned.
 */
async function listWithout(
  source: { api: ApiClient; proof: CompanyProof },
  asked: RecordScope & { id: string; accessToken: string },
  upTo: 'first page' | 'all pages',
): Promise<{ listed: string[]; began: Date | null }> {
  const { streams } = asked.resource;
  const lists: { listed: string[]; began: Date | null }[] = [];
  const missing: NotSupported[] = [];
  for (const stream of streams) {
    try {
      lists.push(await listOneWithout(source, { ...asked, stream }, upTo));
    } catch (error) {
      if (!(error instanceof NotSupported) || upTo === 'all pages') throw error;
      missing.push(error);
    }
  }
  if (lists.length === 0 && missing[0] !== undefined) throw missing[0];
  return { listed: lists.flatMap(({ listed }) => listed), began: lists[0]?.began ?? null };
}

async function listOneWithout(
  { api, proof }: { api: ApiClient; proof: CompanyProof },
  asked: RecordScope & { id: string; accessToken: string; stream: Stream },
  upTo: 'first page' | 'all pages',
): Promise<{ listed: string[]; began: Date | null }> {
  const { resource, stream, id, accessToken } = asked;
  const listed: string[] = [];
  let began: Date | null | undefined;
  const reading = { accessToken, ...listOfStream({ stream, resource }, everything), cursor: null };
  for await (const { connection, records, servedAt } of readPages(api, reading, (page) => page)) {
    await proof.requireNow(connection);
    if (records.some((record) => isShownBy(record, id))) throw new StillReturned(asked);
    began ??= servedAt;
    if (listed.length === 0) listed.push(...records.flatMap(storableIds).slice(0, 10));
    if (upTo === 'first page') break;
  }
  return { listed, began: began ?? null };
}

const everything = { floorMilliseconds: null, ceilingMilliseconds: null, expandPlatformData: false };

function storableIds(record: SourceRecord): string[] {
  const id = sentIdOf(record);
  return typeof id === 'string' && isWellFormed(id) ? [id] : [];
}

/** Also matches an ID that came as a number: such a record waits in quarantine, and is erased by its digits. */
function isShownBy(record: SourceRecord, id: string): boolean {
  const sent = sentIdOf(record);
  return sent === id || sent === Number(id);
}
