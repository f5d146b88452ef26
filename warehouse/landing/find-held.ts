import { isTime } from '../../resources/instant.ts';
import type { FindHeld, HeldContent } from '../../resources/source-record.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { RecordScope } from '../record-scope.ts';
import { hashWithout } from './content-hash.ts';
import { heldAmong } from './holds-records.ts';

/**
 * Returns a function that finds the records of a page that `finance` already holds. After a page of which it holds nothing, as in a first load, the
 * function stops asking.
 */
export function createFindHeld(warehouse: Pick<Warehouse, 'pool'>, scope: RecordScope): FindHeld {
  // If the version is `updated_at`, objects nested in a record may have one too. There are few such records.
  let asks = scope.resource.version === 'last_synced_at';
  return async (texts) => {
    if (!asks || texts.length === 0) return new Map();
    const candidates = texts.flatMap((text, place) => {
      const content = contentAsWritten(text);
      return content === undefined ? [] : [{ place, ...content }];
    });
    const held = await heldAmong(warehouse, scope, candidates);
    asks = held.length > 0;
    return new Map(held.map(({ place, ...content }) => [place, content]));
  };
}

/**
 * Reads a record's ID, version and hash from its text without parsing it; undefined if JSON.parse might find others.
 *
 * If `finance` holds a record with this ID and hash, the text is that of this record except for the value of `last_synced_at`, and it is JSON that
 * passed the check. The omitted member stands between a comma and the next one or the end of its object, so the rest is not JSON until the member is
 * put back in that very place. It is the only member of its name, which is spelled without escapes. No content is held with this hash under the ID of
 * a nested object.
 */
export function contentAsWritten(text: string): HeldContent | undefined {
  const at = text.lastIndexOf(versionName);
  if (at === -1 || text[at - 1] !== ',' || text.indexOf(versionName) !== at) return undefined;
  // Few texts have any such escape; a regular expression alone takes ten times as long.
  if (text.includes('\\u00') && escapedLetter.test(text)) return undefined;
  const id = idMember.exec(text)?.[1];
  versionValue.lastIndex = at + versionName.length;
  const version = versionValue.exec(text)?.[1];
  if (id === undefined || version === undefined || !isTime(version)) return undefined;
  // `"last_synced_at":"…"` without spaces: exactly what `contentHash` leaves out.
  return { id, version, hash: hashWithout(text, at, at + versionName.length + version.length + 3) };
}

const versionName = '"last_synced_at"';
const versionValue = /:"([^"\\]*)"[,}]/y;
const idMember = /"id":"([^"\\]+)"/;
const escapedLetter = /\\u00[4-7]/;
