import { Pool } from 'undici';
import { DeliveryLog } from './delivery-log.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { post } from './post.ts';
import type { PostResult } from './post.ts';
import { sign } from './sign.ts';
import type { Webhook } from './webhook.ts';
import type { WebhookSettings } from './webhook-settings.ts';

/** Sends webhooks to the addresses of the organization (6.2). Waiting webhooks do not survive a restart. */
export class WebhookSender {
  readonly log = new DeliveryLog();
  readonly #clientSecret: string;
  readonly #queues = new Map<string, DeliveryQueue>();
  #settings: WebhookSettings;
  #dropped = 0;

  constructor(clientSecret: string, settings: WebhookSettings) {
    this.#clientSecret = clientSecret;
    this.#settings = settings;
    this.#openQueues();
  }

  get settings(): WebhookSettings {
    return this.#settings;
  }

  get hasAddress(): boolean {
    return this.#queues.size > 0;
  }

  /** The number of waiting webhooks; a published batch that is not generated yet counts as one. */
  get waiting(): number {
    return [...this.#queues.values()].reduce((sum, queue) => sum + queue.waiting, 0);
  }

  /** How often a batch was dropped because too many were waiting. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Changes the settings. Webhooks that wait for a removed address are not sent. */
  async configure(settings: WebhookSettings): Promise<void> {
    this.#settings = settings;
    const gone = [...this.#queues].filter(([address]) => !settings.addresses.includes(address));
    for (const [address] of gone) this.#queues.delete(address);
    this.#openQueues();
    await Promise.all(gone.map(([, queue]) => queue.close()));
  }

  publish(webhooks: Iterable<Webhook>): void {
    for (const queue of this.#queues.values()) if (!queue.publish(webhooks)) this.#dropped += 1;
  }

  /** Sends any text once, now, with the correct signature unless another (or none: null) is given. */
  async sendOnce({ body, signature, address }: OneMessage): Promise<SentMessage[]> {
    const addresses = address === undefined ? this.#settings.addresses : [address];
    const message = {
      body,
      signature: signature === undefined ? sign(body, this.#clientSecret) : signature,
      timeoutMs: this.#settings.timeoutMs,
    };
    return Promise.all(
      addresses.map(async (to) => {
        const pool = new Pool(new URL(to).origin);
        const result = await post(pool, { ...message, address: to });
        await pool.destroy();
        return { ...result, address: to };
      }),
    );
  }

  clear(): void {
    this.log.clear();
    this.#dropped = 0;
    for (const queue of this.#queues.values()) queue.clear();
  }

  async close(): Promise<void> {
    await this.configure({ ...this.#settings, addresses: [] });
  }

  #openQueues(): void {
    const options = { settings: () => this.#settings, clientSecret: this.#clientSecret, log: this.log };
    for (const address of this.#settings.addresses) {
      if (!this.#queues.has(address)) this.#queues.set(address, new DeliveryQueue(address, options));
    }
  }
}

export interface OneMessage {
  readonly body: string;
  readonly signature?: string | null | undefined;
  /** The only address to send to, instead of all of them. */
  readonly address?: string | undefined;
}

interface SentMessage extends PostResult {
  readonly address: string;
}
