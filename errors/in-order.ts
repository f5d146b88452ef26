/**
 * Runs every step, even after one has failed, then throws the first failure: for resources that must be closed in any case. After a failure that
 * `isLast` it runs no more, and throws that one.
 */
export async function inOrder(
  steps: readonly ((() => Promise<unknown>) | undefined)[],
  isLast: (error: unknown) => boolean = () => false,
): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step?.();
    } catch (error) {
      if (isLast(error)) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
