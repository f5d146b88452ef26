import * as z from 'zod';
import type { BuildSettings } from './build-settings.ts';

/** Interprets a line of `dbt/run_dbt.py`: a started node, or a problem. Any other line is passed on unchanged. */
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
    // A Python traceback, or a library's output.
    return undefined;
  }
}
