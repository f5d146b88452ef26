/**
 * SQL: of some rows, their count and the numbers of the transactions that wrote them, summed up by their hashes of 64 bits. It is another one
 * when the rows are others.
 */
export const markSql = `count(*) || '/' || sum(hashint8extended(xmin::text::bigint, 0))::text`;

export const markOfNone = '0/0';

export function rowsOfMark(mark: string): number {
  return Number.parseInt(mark, 10);
}

/** The mark of a connection: those of its pieces. */
export function joinMarks(marks: readonly string[]): string {
  return marks.join(' ');
}

/** Those of the pieces of a connection, in their order; its own where it is not divided. */
export function marksOfPieces(mark: string): string[] {
  return mark.split(' ');
}
