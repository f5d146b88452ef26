import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { signals } from '../../temporal/messages.ts';
import { workflowIds } from '../../temporal/workflow-ids.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { unidentifiedConnections } from '../../warehouse/webhooks/unidentified-connections.ts';
import type { WebhooksStored } from '../../warehouse/webhooks/store-webhooks.ts';
import { oncePerOutage } from '../../worker/once-per-outage.ts';
import { signalApplying } from '../../worker/webhooks/start-applying.ts';

/** Signals Temporal that webhooks are waiting. It is fire-and-forget: the sweep finds webhooks whose signal failed. */
export interface ApplyTrigger {
  trigger(stored: WebhooksStored): void;
  close(): void;
}

/** Webhooks in quick succession are applied together: a burst about one record becomes one request to the service. */
const debounceMilliseconds = 150;
/** The least time between two signals to a connection that changes constantly. */
const betweenMilliseconds = 1_000;
const deadlineMilliseconds = 5_000;

export function createApplyTrigger(parts: {
  readonly warehouse: Warehouse;
  readonly temporal: Client;
  readonly apiAddress: string;
  readonly logger: Logger;
}): ApplyTrigger {
  const { warehouse, temporal, apiAddress, logger } = parts;
  const closing = new AbortController();
  const attempt = oncePerOutage(
    logger,
    'Could not notify Temporal of webhooks. They are stored; a worker finds them when it is back.',
  );
  /** The names being signaled, and whether more webhooks arrived for each since its last signal. */
  const asked = new Map<string, boolean>();
  return {
    trigger({ due, isUnknownDataReady }) {
      for (const connection of due)
        ask(workflowIds.webhooks(connection), () => signalApplying(temporal, connection));
      if (isUnknownDataReady) ask('unknown', () => wakeUnidentified({ warehouse, temporal, apiAddress }));
    },
    close: () => {
      closing.abort();
    },
  };

  function ask(name: string, tell: () => Promise<void>): void {
    const isNew = !asked.has(name);
    asked.set(name, true);
    if (isNew) void tellUntilQuiet(name, tell);
  }

  async function tellUntilQuiet(name: string, tell: () => Promise<void>): Promise<void> {
    await quiet(debounceMilliseconds);
    while (asked.get(name) === true && !closing.signal.aborted) {
      asked.set(name, false);
      await attempt(() => temporal.withDeadline(Date.now() + deadlineMilliseconds, tell));
      await quiet(betweenMilliseconds);
    }
    asked.delete(name);
  }

  async function quiet(milliseconds: number): Promise<void> {
    await pause(milliseconds, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
  }
}

/** Data is ready for a connection that is not identified yet, so every sync that waits for such data is signaled to ask again. */
async function wakeUnidentified(parts: {
  warehouse: Warehouse;
  temporal: Client;
  apiAddress: string;
}): Promise<void> {
  const { warehouse, temporal, apiAddress } = parts;
  for (const connection of await unidentifiedConnections(warehouse, apiAddress)) {
    await temporal.workflow
      .getHandle(workflowIds.sync(connection))
      .signal(signals.dataReady)
      .catch((error: unknown) => {
        // No sync is running, so none is waiting.
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      });
  }
}
