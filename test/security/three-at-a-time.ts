/** Does all of it, three at a time. */
export async function threeAtATime(deeds: readonly (() => Promise<unknown>)[]): Promise<void> {
  const waiting = [...deeds];
  await Promise.all(
    [1, 2, 3].map(async () => {
      for (let deed = waiting.shift(); deed !== undefined; deed = waiting.shift()) await deed();
    }),
  );
}
