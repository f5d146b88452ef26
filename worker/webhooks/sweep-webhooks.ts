import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { dueConnections } from '../../warehouse/webhooks/due-connections.ts';
import { forgetWrongHolds } from '../../warehouse/webhooks/forget-wrong-holds.ts';
import { repeat } from '../repeat.ts';
import { startApplying } from './start-applying.ts';

const everyMilliseconds = 5_000;
const deadlineMilliseconds = 10_000;

/**
 * Starts the applying workflow every few seconds for connections with waiting webhooks and none running: Temporal was away, a server was
 * killed, or a pause has ended. Any number of workers may do so at once. Ends when `stopping` aborts.
 */
export async function sweepWebhooks(
  places: { readonly warehouse: Warehouse; readonly temporal: Client; readonly apiAddress: string },
  { logger, stopping }: { logger: Logger; stopping: AbortSignal },
): Promise<void> {
  const { warehouse, temporal, apiAddress } = places;
  const failing = 'Could not look for waiting webhooks; retrying.';
  await repeat({ everyMilliseconds, stopping, logger, failing }, async () => {
    await forgetWrongHolds(warehouse);
    const connections = await dueConnections(warehouse, apiAddress);
    await temporal.withDeadline(Date.now() + deadlineMilliseconds, async () => {
      for (const connection of connections) {
        if (stopping.aborted) return;
        await startApplying(temporal, connection);
      }
    });
  });
}
