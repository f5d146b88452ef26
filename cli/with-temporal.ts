import type { Client } from '@temporalio/client';
import type { Settings } from '../config/settings.ts';

/** Connects to Temporal while `work` runs. Throws TemporalUnavailable. */
export async function withTemporal<Result>(
  settings: Settings,
  work: (temporal: Client) => Promise<Result>,
  options: { deadlineMilliseconds?: number } = {},
): Promise<Result> {
  const { connectTemporal } = await import('../operations/temporal-client.ts');
  const temporal = await connectTemporal(settings, options);
  try {
    return await work(temporal);
  } finally {
    await temporal.connection.close();
  }
}

/** For commands that can do without Temporal if it does not answer. */
export const shortDeadline = { deadlineMilliseconds: 3_000 };
