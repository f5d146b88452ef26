/** Returns a count with its noun. `many` is needed if the plural is more than an added s. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}
