import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { CalculatorBook } from './load-book.ts';

const program = fileURLToPath(new URL('calculator/main.py', import.meta.url));

/** A value from the calculator: decimals and dates are texts, ratios and counts are numbers. */
export type Value = string | number | boolean | null | undefined;

export type Calculated = Readonly<Record<string, readonly Readonly<Record<string, Value>>[]>>;

/** Computes all marts of the books with the calculator, which uses Python's decimals and nothing of the dbt project. */
export async function calculate(input: {
  /** The moment of the build; with `time_zone` it determines today. */
  now: string;
  time_zone: string;
  fx_rates: readonly Readonly<Record<string, string>>[];
  books: readonly CalculatorBook[];
}): Promise<Calculated> {
  const child = spawn('python3', [program], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  child.stdin.end(JSON.stringify(input));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (output === '') throw new Error(`The calculator ended without a result: ${errors}`);
  return JSON.parse(output) as Calculated;
}
