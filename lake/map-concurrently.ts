/**
 * Works through the items, `atOnce` at a time, and returns the results in the order of the items. After a failure no item is begun, and items
 * in progress have ended when this throws.
 */
export async function mapConcurrently<Item, Result>(
  atOnce: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  let hasFailed = false;
  const ended = await Promise.allSettled(
    Array.from({ length: atOnce }, async () => {
      for (const [index, item] of waiting) {
        if (hasFailed) return;
        try {
          results[index] = await work(item);
        } catch (error) {
          hasFailed = true;
          throw error;
        }
      }
    }),
  );
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
  return results;
}

/** Returns the items for which `is` resolves to true, in their order. */
export async function filterConcurrently<Item>(
  atOnce: number,
  items: readonly Item[],
  is: (item: Item) => Promise<boolean>,
): Promise<Item[]> {
  const are = await mapConcurrently(atOnce, items, is);
  return items.filter((_, index) => are[index]);
}
