import * as z from 'zod';
import type { BuildSettings } from './build-settings.ts';

/** Tells what a line of `dbt/run_dbt.py` says: which node begins, or what is wrong. Any other line is passed on as it is. */
export function readDbtLine(
  line: string,
  { onLine, onNode }: Pick<BuildSettings, 'onLine' | 'onNode'>,
): void {
  const said = saidBy(line);
  if (said === undefined) onLine?.(line);
  else if ('message' in said) onLine?.(said.message);
  else onNode?.(said);
}

const saidSchema = z.union([
  z.object({ message: z.string() }),
  z.object({ index: z.number(), total: z.number(), node: z.string() }),
]);

function saidBy(line: string): z.infer<typeof saidSchema> | undefined {
  try {
    return saidSchema.parse(JSON.parse(line));
  } catch {
    // A trace of Python's, or what a library prints.
    return undefined;
  }
}
