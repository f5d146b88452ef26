import { readWebhook } from '../../source/read-webhook.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { storeWebhooks } from '../../warehouse/webhooks/store-webhooks.ts';

/** Brings webhooks, at once or episodes later, and stores them as the server does. */
export class Post {
  readonly #stage: { readonly warehouse: Warehouse; readonly apiAddress: string };
  #episode = 0;
  #onTheWay: { readonly episode: number; readonly body: string }[] = [];
  #server: Warehouse | undefined;
  #arriving = Promise.resolve();
  delivered = 0;

  constructor(stage: { readonly warehouse: Warehouse; readonly apiAddress: string }) {
    this.#stage = stage;
  }

  /** What arrives with the next episode comes first. */
  async beginEpisode(): Promise<void> {
    this.#episode += 1;
    const due = this.#onTheWay.filter(({ episode }) => episode <= this.#episode);
    this.#onTheWay = this.#onTheWay.filter(({ episode }) => episode > this.#episode);
    // The last one first: they come in no certain order.
    for (const { body } of due.reverse()) await this.send(body, 0);
  }

  /** `delay`: in episodes. */
  async send(body: string, delay: number): Promise<void> {
    if (delay > 0) {
      this.#onTheWay.push({ episode: this.#episode + delay, body });
      return;
    }
    this.delivered += 1;
    const server = this.#server;
    if (server === undefined) {
      await this.#store(this.#stage.warehouse, body);
    } else {
      // What it writes to may be locked, so it takes its turn among all others; whoever sends does not wait for that.
      this.#arriving = this.#arriving.then(() => this.#store(server, body));
      this.#arriving.catch(() => undefined);
    }
  }

  /** From now on webhooks are stored by that server, which takes turns with others; by nobody's leave without one. */
  takeTurns(server: Warehouse | undefined): void {
    this.#server = server;
    this.#arriving = Promise.resolve();
  }

  /** When everything sent so far is stored. */
  async emptied(): Promise<void> {
    await this.#arriving;
  }

  async #store(into: Warehouse, body: string): Promise<void> {
    const { apiAddress } = this.#stage;
    const webhook = readWebhook(Buffer.from(body));
    if (webhook !== undefined) await storeWebhooks(into, { apiAddress, webhooks: [webhook] });
  }
}
