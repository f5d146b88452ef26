/** Returns SQL for a sum: 0 if there are no rows, null if any amount is not known. */
export function wholeSum(amount: string): string {
  return `case when count(*) = count(${amount}) then sum(${amount}) end`;
}
