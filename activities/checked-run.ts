import * as z from 'zod';
import { UnknownConnection } from '../warehouse/errors.ts';
import { plainName } from '../warehouse/plain-name.ts';

/** The same pattern as in `daybook connection add`. */
const connectionName = z.string().regex(plainName);

const shape = z.object({
  connection: connectionName,
  reason: z.string().transform(checkedReason),
});

/** Returns the reason without characters that Postgres cannot hold, cut at 200 characters; empty if it is not a string. */
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
 * Validates a run's input: anyone with write access to the namespace can start a run with any input. An input that the database rejects
 * would be retried forever. Throws UnknownConnection.
 */
export function checkedRun<Input extends z.input<typeof shape>>(input: Input): Input {
  const { success, data } = shape.safeParse(input);
  if (!success) throw new UnknownConnection();
  return { ...input, ...data };
}
