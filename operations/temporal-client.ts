import { Client, Connection, ServiceError } from '@temporalio/client';
import type { Settings } from '../config/settings.ts';

/** Temporal did not answer. */
export class TemporalUnavailable extends Error {
  override readonly name = 'TemporalUnavailable';

  /** An empty address: none is configured. */
  constructor(address: string, cause: unknown) {
    super(
      address === ''
        ? 'Temporal is not configured: set TEMPORAL_ADDRESS, or start "daybook up", which has one.'
        : `Temporal does not answer at ${address}: check TEMPORAL_ADDRESS, or start "daybook up" if it is the embedded one.`,
      { cause },
    );
  }
}

/** Whether an error means that Temporal does not answer, when connecting or later. */
export function isTemporalAway(error: unknown): boolean {
  return error instanceof TemporalUnavailable || error instanceof ServiceError;
}

/** Throws TemporalUnavailable. The caller closes the client's connection. */
export async function connectTemporal(
  { temporal }: Pick<Settings, 'temporal'>,
  { deadlineMilliseconds = 10_000 } = {},
): Promise<Client> {
  const { namespace, connection } = temporal;
  try {
    return new Client({
      namespace,
      connection: await Connection.connect({ ...connection, connectTimeout: deadlineMilliseconds }),
    });
  } catch (error) {
    throw new TemporalUnavailable(connection.address ?? '', error);
  }
}
