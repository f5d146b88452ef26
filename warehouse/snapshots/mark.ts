/** SQL for the mark of some rows: their count, and the sum of 64-bit hashes of the transactions that wrote them. Other rows have another mark. */
export const markSql = `count(*) || '/' || sum(hashint8extended(xmin::text::bigint, 0))::text`;

export const markOfNone = '0/0';

export function rowsOfMark(mark: string): number {
  return Number.parseInt(mark, 10);
}

/** Joins the marks of a connection's pieces to the mark of the connection. */
export function joinMarks(marks: readonly string[]): string {
  return marks.join(' ');
}

/** Returns the marks of a connection's pieces, in order; its own mark if it is not divided. */
export function marksOfPieces(mark: string): string[] {
  return mark.split(' ');
}
