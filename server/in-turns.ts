/** Runs one call at a time, in order of arrival. A call for an argument that is already pending joins it, so repeated calls add no work. */
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
