/**
 * Batches single calls: those that come while a group is in progress form the next group. Results are in the order of their items; an
 * error rejects the whole group.
 */
export function inGroups<Item, Result>(
  size: number,
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let working = false;
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!working) void workOff();
    });

  async function workOff(): Promise<void> {
    working = true;
    for (let group = waiting.splice(0, size); group.length > 0; group = waiting.splice(0, size)) {
      await workOn(group);
    }
    working = false;
  }

  async function workOn(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await work(group.map(({ item }) => item));
      for (const [index, { resolve, reject }] of group.entries()) {
        const result = results[index];
        if (result === undefined) reject(new Error('A member of the group got no result.'));
        else resolve(result);
      }
    } catch (error) {
      for (const { reject } of group) reject(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}
