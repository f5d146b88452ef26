import { hashText } from './dice.ts';

/**
 * Creates IDs shaped like UUID version 7 that rise with the index, so records synced together have the same order by (time, id)
 * as by index. An ID can be converted back to its index, which is how one record is found among a million.
 */
export function recordIds(scope: string): RecordIds {
  const origin = firstId + (hashText(`${scope}#origin`) % 1_000_000_000);
  const tail = idTail(scope);
  return {
    at(index) {
      const number = origin + index * step;
      const low = number % 0x1_0000;
      const middle = Math.floor(number / 0x1_0000) % 0x1_0000;
      return `${hex(Math.floor(number / 0x1_0000_0000))}${hex(middle)}-${hex(low)}-${tail}`;
    },
    indexOf(id) {
      if (id.length !== 36 || !id.endsWith(tail)) return null;
      const index = (Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) - origin) / step;
      return Number.isSafeInteger(index) && index >= 0 ? index : null;
    },
  };
}

/** Returns a small fixed list of IDs (accounts, departments, …). */
export function fixedIds(scope: string, count: number): readonly [string, ...string[]] {
  const ids = recordIds(scope);
  return [ids.at(0), ...Array.from({ length: count - 1 }, (_, index) => ids.at(index + 1))];
}

function idTail(scope: string): string {
  const hex = [1, 2, 3].map((part) => hashText(`${scope}#${part}`).toString(16).padStart(8, '0')).join('');
  return `7${hex.slice(0, 3)}-9${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
}

/** Returns four hexadecimal digits. A bill has some thirty IDs, and a table lookup is five times as fast as formatting. */
function hex(number: number): string {
  return fourDigits[number] ?? '';
}

const fourDigits = Array.from({ length: 0x1_0000 }, (_, number) => number.toString(16).padStart(4, '0'));

const firstId = Date.UTC(2024, 0, 1);
const step = 997;

export interface RecordIds {
  at(index: number): string;
  /** Null if this is not an ID of the scope. The index may exceed the last record. */
  indexOf(id: string): number | null;
}
