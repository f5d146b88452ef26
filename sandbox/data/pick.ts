/** One entry of a list that is never empty, chosen by any whole number. */
export function pick<T>(list: readonly [T, ...(readonly T[])], number: number): T {
  return list[number % list.length] ?? list[0];
}
