/** Works through the items in their order, at most `concurrency` of them at once. */
export async function mapConcurrently<Item, Result>(
  concurrency: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.values();
  const runner = async (): Promise<void> => {
    for (const item of waiting) results.push(await work(item));
  };
  await Promise.all(Array.from({ length: concurrency }, runner));
  return results;
}
