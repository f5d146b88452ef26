/** SQL of a sum that has every amount in it, 0 without any; null where one of them is not known. */
export function wholeSum(amount: string): string {
  return `case when count(*) = count(${amount}) then sum(${amount}) end`;
}
