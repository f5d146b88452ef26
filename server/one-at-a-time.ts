/** Who asks while it runs joins it, and gets the same result: asking often starts nothing more often. */
export function oneAtATime<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}
