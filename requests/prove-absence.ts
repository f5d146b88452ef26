import { FetchWavers, RecordGone, RequestRefused } from '../source/errors.ts';
import { handlingOf } from './handling.ts';

/** The conclusion from a fetch without a record. `unproved`: none, because perhaps no record can be fetched. */
export type Absence = 'absent' | 'unproved';

export type ProveAbsence = (gone: RecordGone, id: string) => Promise<Absence>;

/**
 * Creates the function that decides whether a record that a fetch did not find is absent. A 410 proves it. A 404 may also be about the
 * endpoint (API document 7), so it counts only if `fetch` returns another record that is known to exist, under the same token, and then still
 * does not find this one. Whether others can be fetched is asked once. A response with another record than the one requested proves nothing.
 * The function throws FetchWavers if the record is found after all, and the errors of `fetch`.
 */
export function createAbsenceProof(others: {
  /** Rejects if the service does not return the record. */
  fetch: (id: string) => Promise<unknown>;
  /** Ids of some records that are known to exist. */
  readAlive: () => Promise<readonly string[]>;
}): ProveAbsence {
  let canFetch: Promise<boolean> | undefined;
  return async (gone, id) => {
    const { status } = gone;
    if (status === 410) return 'absent';
    if (status !== 404) return 'unproved';
    canFetch ??= isAnyFetched(others, id);
    try {
      if (!(await canFetch)) return 'unproved';
    } catch (error) {
      canFetch = undefined;
      throw error;
    }
    if (!(await isStillGone(others.fetch, id))) throw new FetchWavers(gone);
    return 'absent';
  };
}

async function isStillGone(fetch: (id: string) => Promise<unknown>, id: string): Promise<boolean> {
  try {
    await fetch(id);
    return false;
  } catch (error) {
    if (error instanceof RecordGone) return error.status !== 200;
    throw error;
  }
}

/** One of them may have been deleted a moment ago, but hardly all. */
const othersAsked = 3;

async function isAnyFetched(
  { fetch, readAlive }: Parameters<typeof createAbsenceProof>[0],
  except: string,
): Promise<boolean> {
  const alive = (await readAlive()).filter((id) => id !== except);
  const failures: unknown[] = [];
  for (const id of alive.slice(0, othersAsked)) {
    try {
      await fetch(id);
      return true;
    } catch (error) {
      if (error instanceof RecordGone || error instanceof RequestRefused) continue;
      if (handlingOf(error) !== 'retry') throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return false;
}
