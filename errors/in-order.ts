/** Runs every step, even after one has failed, then throws the first failure: for resources that must be closed in any case. */
export async function inOrder(steps: readonly ((() => Promise<unknown>) | undefined)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step?.();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
