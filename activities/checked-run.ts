import * as z from 'zod';
import { UnknownConnection } from '../warehouse/errors.ts';
import { plainName } from '../warehouse/plain-name.ts';

/** As `daybook connection add` takes it. */
const connectionName = z.string().regex(plainName);

const shape = z.object({
  connection: connectionName,
  reason: z.string().transform(checkedReason),
});

/** The reason without characters that Postgres cannot hold, cut at 200 characters; empty if it is not a text. */
export function checkedReason(reason: unknown): string {
  const text = typeof reason === 'string' ? reason : '';
  return text.replaceAll('\u0000', '').slice(0, 200);
}

/** Throws UnknownConnection. */
export function checkedConnection(connection: string): string {
  const { success, data } = connectionName.safeParse(connection);
  if (!success) throw new UnknownConnection();
  return data;
}

/**
 * Anyone who may write in the namespace can start a run with any input. An input that no database takes would be retried for ever, so
 * the run ends here. Throws UnknownConnection.
 */
export function checkedRun<Input extends z.input<typeof shape>>(input: Input): Input {
  const { success, data } = shape.safeParse(input);
  if (!success) throw new UnknownConnection();
  return { ...input, ...data };
}
