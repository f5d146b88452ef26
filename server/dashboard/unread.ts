import { counted } from '../frame/counted.ts';
import { monthEnd, monthName } from './month.ts';

/** The day up to which bills, expenses and credits of a connection are completely known; null: not all of them were read to their end yet. */
export interface Read {
  readonly connection_id: string;
  readonly spend_read_until: string | null;
}

/** Returns the given months that are known to their end for every connection. The order is kept. */
export function readMonths(reads: readonly Read[], months: readonly string[]): string[] {
  return months.filter((month) => reads.every((read) => isRead(read, month)));
}

/**
 * Returns a sentence that names the months not known to their end, the connections concerned if several can be chosen, and the consequence.
 * Returns nothing if all months are known.
 */
export function unreadWords(
  reads: readonly Read[],
  { months, connection, consequence }: { months: readonly string[]; connection: string; consequence: string },
): string[] {
  const unread = reads.flatMap((read) => {
    const [first, ...others] = months.filter((month) => !isRead(read, month));
    if (first === undefined) return [];
    const last = others.at(-1);
    const named = last === undefined ? monthName(first) : `${monthName(first)} to ${monthName(last)}`;
    const isMany = last !== undefined;
    return [{ words: connection === '' ? `${named} of ${read.connection_id}` : named, isMany }];
  });
  if (unread.length === 0) return [];
  const shown = unread.slice(0, connectionsNamed).map(({ words }) => words);
  const others = unread.length - shown.length;
  const more = others === 0 ? [] : [`months of ${counted(others, 'more connection')}`];
  const all = [...shown, ...more];
  const isOne = all.length === 1 && unread[0]?.isMany === false;
  return [
    `${listed(all)} ${isOne ? 'was not read to its end' : 'were not read to their end'}: ${consequence}`,
  ];
}

/** A longer list is hard to read; the strip at the top shows the state of each connection. */
const connectionsNamed = 3;

function isRead({ spend_read_until: until }: Read, month: string): boolean {
  return until !== null && monthEnd(month) <= until;
}

function listed(words: readonly string[]): string {
  const [last, ...others] = [...words].reverse();
  return others.length === 0 ? (last ?? '') : `${others.reverse().join(', ')} and ${last ?? ''}`;
}
