import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { readWebhook, type Webhook } from '../../source/read-webhook.ts';
import { isSignedByService } from '../../source/webhook-signature.ts';
import { isRefusedData } from '../../warehouse/landing/bisect-records.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { storeWebhooks, type WebhooksStored } from '../../warehouse/webhooks/store-webhooks.ts';
import { inGroups } from './in-groups.ts';
import { createApplyTrigger } from './apply-trigger.ts';

/** Receives webhooks, independent of the server that accepted them. */
export interface WebhookIntake {
  /** Resolves once the webhook is stored or rejected as invalid. Rejects if it could not be stored and must be sent again. */
  receive(body: Buffer, signature: string | undefined): Promise<Receipt>;
  close(): void;
}

export type Receipt = 'stored' | 'forged' | 'unreadable';

/**
 * Receives webhooks (API document 6.2): verifies, stores and commits each before acknowledging it. Workers apply them; signaling Temporal
 * does not delay the acknowledgment.
 */
export function createWebhookIntake(parts: {
  readonly warehouse: Warehouse;
  readonly temporal: Client;
  readonly apiAddress: string;
  readonly clientSecret: string;
  readonly logger: Logger;
}): WebhookIntake {
  const { warehouse, apiAddress, clientSecret, logger } = parts;
  if (clientSecret === '') logger.warn('DAYBOOK_CLIENT_SECRET is not set, so every webhook is refused.');
  const applyTrigger = createApplyTrigger(parts);
  const store = inGroups<Webhook, Stored>(groupSize, async (webhooks) => {
    const { stored, readable } = await inTime(storeGroup(warehouse, { apiAddress, webhooks }));
    applyTrigger.trigger(stored);
    return readable.map((one) => (one ? 'stored' : 'unreadable'));
  });
  return {
    async receive(body, signature) {
      if (!isSignedByService(body, signature, clientSecret)) return 'forged';
      const webhook = readWebhook(body);
      return webhook === undefined ? 'unreadable' : store(webhook);
    },
    close: () => {
      applyTrigger.close();
    },
  };
}

type Stored = Exclude<Receipt, 'forged'>;

/** One commit for all webhooks that arrive during the previous one; 200 a second need no larger groups. */
const groupSize = 50;

/**
 * Limits the time of storing. A statement to a host that has just vanished gets no answer, and the kernel reports it only after minutes; the
 * next group uses another session. A webhook that was stored after all and is sent again is counted.
 */
async function inTime(storing: Promise<GroupStored>): Promise<GroupStored> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new NotStoredInTime());
    }, mostMilliseconds);
  });
  try {
    return await Promise.race([storing, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

/** Longer than the timeout of connecting, whose error says more about the cause. */
const mostMilliseconds = 15_000;

class NotStoredInTime extends Error {
  override readonly name = 'NotStoredInTime';

  constructor() {
    super(`Postgres had not stored it within ${mostMilliseconds / 1000} s.`);
  }
}

interface GroupStored {
  stored: WebhooksStored;
  /** For each webhook, whether Postgres can store it. */
  readable: boolean[];
}

/** Stores all at once; if Postgres refuses one, stores each on its own. */
async function storeGroup(
  warehouse: Warehouse,
  { apiAddress, webhooks }: { apiAddress: string; webhooks: readonly Webhook[] },
): Promise<GroupStored> {
  try {
    const stored = await storeWebhooks(warehouse, { apiAddress, webhooks });
    return { stored, readable: webhooks.map(() => true) };
  } catch (error) {
    if (!isRefusedData(error)) throw error;
    const each = await Promise.all(webhooks.map((webhook) => storeAlone(warehouse, { apiAddress, webhook })));
    return {
      stored: {
        due: [...new Set(each.flatMap((one) => one?.due ?? []))],
        isUnknownDataReady: each.some((one) => one?.isUnknownDataReady === true),
      },
      readable: each.map((one) => one !== undefined),
    };
  }
}

/** Stores one webhook, as text if Postgres refuses it as JSON. Undefined if it cannot store the text either. */
async function storeAlone(
  warehouse: Warehouse,
  { apiAddress, webhook }: { apiAddress: string; webhook: Webhook },
): Promise<WebhooksStored | undefined> {
  for (const asText of [false, true]) {
    try {
      return await storeWebhooks(warehouse, { apiAddress, webhooks: [webhook], asText });
    } catch (error) {
      if (!isRefusedData(error)) throw error;
    }
  }
  return undefined;
}
