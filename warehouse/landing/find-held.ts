import { isTime } from '../../resources/instant.ts';
import type { FindHeld, HeldContent } from '../../resources/source-record.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { RecordScope } from '../record-scope.ts';
import { hashWithout } from './content-hash.ts';
import { heldAmong } from './holds-records.ts';

/**
 * Finds in the pages of one reading what `finance` holds already. After a page of which it holds nothing, as in a first load, it is not asked
 * again.
 */
export function createFindHeld(warehouse: Pick<Warehouse, 'pool'>, scope: RecordScope): FindHeld {
  // A version that is `updated_at` may stand in what is nested in a record too. There are few such records.
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
 * A record's ID, version and hash, read off its text without parsing it; undefined where JSON.parse might find others.
 *
 * If `finance` holds a record under this ID with this hash, then the text is that record's but for the value of `last_synced_at`, and so is
 * JSON that passed the check: what the hash leaves out stands between a comma and the next one or the end of its object, so that the rest is
 * no JSON until it is put back in that very place, and it is the only member of its name, which is spelled without escapes. An ID that is a
 * nested object's is none under which this content is held.
 */
export function contentAsWritten(text: string): HeldContent | undefined {
  const at = text.lastIndexOf(versionName);
  if (at === -1 || text[at - 1] !== ',' || text.indexOf(versionName) !== at) return undefined;
  // Few texts have any escape of the kind; an expression takes ten times as long to say so.
  if (text.includes('\\u00') && escapedLetter.test(text)) return undefined;
  const id = idMember.exec(text)?.[1];
  versionValue.lastIndex = at + versionName.length;
  const version = versionValue.exec(text)?.[1];
  if (id === undefined || version === undefined || !isTime(version)) return undefined;
  // `"last_synced_at":"…"`, and nothing between: so much is `contentHash` without it.
  return { id, version, hash: hashWithout(text, at, at + versionName.length + version.length + 3) };
}

const versionName = '"last_synced_at"';
const versionValue = /:"([^"\\]*)"[,}]/y;
const idMember = /"id":"([^"\\]+)"/;
const escapedLetter = /\\u00[4-7]/;
