/**
 * Runs one at a time, in the order of asking. Who asks what is already asked for joins it: asking often starts nothing more often.
 */
export function inTurns<Asked, Result>(
  run: (asked: Asked) => Promise<Result>,
): (asked: Asked) => Promise<Result> {
  const going = new Map<Asked, Promise<Result>>();
  let last: Promise<unknown> = Promise.resolve();
  return (asked) => {
    const joined = going.get(asked);
    if (joined !== undefined) return joined;
    const result = last
      .catch(() => undefined)
      .then(() => run(asked))
      .finally(() => going.delete(asked));
    last = result;
    going.set(asked, result);
    return result;
  };
}
