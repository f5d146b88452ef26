import { z } from 'zod';
import { UnknownConnection } from '../warehouse/errors.ts';
import { plainName } from '../warehouse/plain-name.ts';

/** As `daybook connection add` takes it. */
const connectionName = z.string().regex(plainName);

const shape = z.object({
  connection: connectionName,
  reason: z.string().transform(checkedReason),
});

/** What Postgres cannot hold goes, and so does what nobody reads to its end, or what is no text. */
export function checkedReason(reason: unknown): string {
  const text = typeof reason === 'string' ? reason : '';
  return text.replaceAll('\u0000', '').slice(0, 200);
}

/** Throws UnknownConnection. */
export function checkedConnection(connection: string): string {
  const { success, data } = connectionName.safeParse(connection);
  if (!success) throw new UnknownConnection('of that name');
  return data;
}

/**
 * Who may write in the namespace can start a run with any input. One that no database takes would be tried again for ever, so it ends
 * here. Throws UnknownConnection.
 */
export function checkedRun<Input extends z.input<typeof shape>>(input: Input): Input {
  const { success, data } = shape.safeParse(input);
  if (!success) throw new UnknownConnection('of that name, or it was asked for without a reason');
  return { ...input, ...data };
}
