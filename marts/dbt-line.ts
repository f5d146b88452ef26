import { z } from 'zod';
import type { BuildSettings } from './build-settings.ts';

/** Tells what a line of dbt's log says: which node it begins with, or a warning. What is no log is passed on as it is. */
export function readDbtLine(
  line: string,
  { onLine, onNode }: Pick<BuildSettings, 'onLine' | 'onNode'>,
): void {
  const event = eventOf(line);
  if (event === undefined) onLine?.(line);
  else if (event.info.name === 'LogStartLine') onNode?.(startedOf(event.data));
  else if (event.info.level === 'warn' || event.info.level === 'error') onLine?.(event.info.msg);
}

const eventSchema = z.object({
  info: z.object({ name: z.string(), level: z.string(), msg: z.string() }),
  data: z.unknown(),
});

const startSchema = z
  .object({ index: z.number(), total: z.number(), node_info: z.object({ node_name: z.string() }) })
  .transform(({ index, total, node_info: { node_name: node } }) => ({ index, total, node }));

function eventOf(line: string): z.infer<typeof eventSchema> | undefined {
  try {
    return eventSchema.parse(JSON.parse(line));
  } catch {
    // A trace of Python's, or what a library prints.
    return undefined;
  }
}

function startedOf(data: unknown): z.infer<typeof startSchema> {
  return startSchema.parse(data);
}
