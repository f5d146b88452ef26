import { readWebhook } from '../../source/read-webhook.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { storeWebhooks } from '../../warehouse/webhooks/store-webhooks.ts';

/** Delivers webhooks, at once or episodes later, and stores them as the server does. */
export class WebhookDelivery {
  readonly #harness: { readonly warehouse: Warehouse; readonly apiAddress: string };
  #episode = 0;
  #onTheWay: { readonly episode: number; readonly body: string }[] = [];
  #server: Warehouse | undefined;
  #arriving = Promise.resolve();
  delivered = 0;

  constructor(harness: { readonly warehouse: Warehouse; readonly apiAddress: string }) {
    this.#harness = harness;
  }

  /** Delivers first the webhooks that are due in the new episode. */
  async beginEpisode(): Promise<void> {
    this.#episode += 1;
    const due = this.#onTheWay.filter(({ episode }) => episode <= this.#episode);
    this.#onTheWay = this.#onTheWay.filter(({ episode }) => episode > this.#episode);
    // In reverse, because webhooks come in no certain order.
    for (const { body } of due.reverse()) await this.send(body, 0);
  }

  /** `delay` is in episodes. */
  async send(body: string, delay: number): Promise<void> {
    if (delay > 0) {
      this.#onTheWay.push({ episode: this.#episode + delay, body });
      return;
    }
    this.delivered += 1;
    const server = this.#server;
    if (server === undefined) {
      await this.#store(this.#harness.warehouse, body);
    } else {
      // The webhook may write to locked rows, so storing it takes its turn among all others, and the sender does not wait for that.
      this.#arriving = this.#arriving.then(() => this.#store(server, body));
      this.#arriving.catch(() => undefined);
    }
  }

  /** Stores webhooks from now on with that server, which takes turns with others. Undefined: without turns. */
  storeThrough(server: Warehouse | undefined): void {
    this.#server = server;
    this.#arriving = Promise.resolve();
  }

  /** Resolves when everything sent so far is stored. */
  async allStored(): Promise<void> {
    await this.#arriving;
  }

  async #store(into: Warehouse, body: string): Promise<void> {
    const { apiAddress } = this.#harness;
    const webhook = readWebhook(Buffer.from(body));
    if (webhook !== undefined) await storeWebhooks(into, { apiAddress, webhooks: [webhook] });
  }
}
