/** Returns one entry of a non-empty list, selected by any whole number. */
export function pick<T>(list: readonly [T, ...(readonly T[])], number: number): T {
  return list[number % list.length] ?? list[0];
}
