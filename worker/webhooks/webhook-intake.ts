import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { readWebhook, type Webhook } from '../../source/read-webhook.ts';
import { isSignedByService } from '../../source/webhook-signature.ts';
import { isRefusedData } from '../../warehouse/landing/bisect-records.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { storeWebhooks, type WebhooksStored } from '../../warehouse/webhooks/store-webhooks.ts';
import { inGroups } from './in-groups.ts';
import { createApplyTrigger } from './apply-trigger.ts';

/** Where webhooks go in, whoever received them. */
export interface WebhookIntake {
  /** Resolves once the webhook is stored, or is known to be none. Rejects when it could not be stored: it must be sent again. */
  receive(body: Buffer, signature: string | undefined): Promise<Receipt>;
  close(): void;
}

export type Receipt = 'stored' | 'forged' | 'unreadable';

/**
 * Takes webhooks in (API document 6.2): proved to be the service's, stored, committed, and only then acknowledged. Applying them is
 * a worker's work, which Temporal is told of without anybody waiting for it.
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

/** One commit for those that arrive while the one before is written: 200 a second need no more than that. */
const groupSize = 50;

/**
 * A statement that is sent to a host which has just vanished is answered by nobody, and the kernel says so after minutes: the next group
 * takes another session. What is stored all the same, and sent again, is counted.
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

/** Longer than connecting may take, which says more of why. */
const mostMilliseconds = 15_000;

class NotStoredInTime extends Error {
  override readonly name = 'NotStoredInTime';

  constructor() {
    super(`Postgres had not stored it within ${mostMilliseconds / 1000} s.`);
  }
}

interface GroupStored {
  stored: WebhooksStored;
  /** Of each webhook, whether Postgres can hold it. */
  readable: boolean[];
}

/** All at once; where Postgres refuses one, each alone. */
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
        unknownIsReady: each.some((one) => one?.unknownIsReady === true),
      },
      readable: each.map((one) => one !== undefined),
    };
  }
}

/** JSON that Postgres does not take for such is kept as text; undefined when that cannot be either. */
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
