export function runVitest(
  root: string,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<{ passed: number; failed: number }>;
