import { Pool } from 'undici';
import type { DeliveryKind, DeliveryLog, LoggedDelivery } from './delivery-log.ts';
import { drawFate } from './fate.ts';
import { post } from './post.ts';
import { sign } from './sign.ts';
import type { Webhook } from './webhook.ts';
import type { WebhookSettings } from './webhook-settings.ts';

/**
 * The deliveries to one address: a limited number of concurrent attempts, with later retries (6.2). Each address has its own queue, so a
 * receiver that hangs delays no other one. Published webhooks are generated only when there is room for them.
 */
export class DeliveryQueue {
  readonly #address: string;
  readonly #options: DeliveryQueueOptions;
  readonly #pool: Pool;
  /** Published, but not generated yet. */
  readonly #published = new Set<Iterator<Webhook>>();
  /** Generated, but not finished. */
  readonly #open = new Set<Delivery>();
  /** The deliveries of `#open` that may be sent now, and the timers of the others. */
  readonly #due = new Set<Delivery>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #sending = 0;
  #taken = 0;
  #pumping = false;

  constructor(address: string, options: DeliveryQueueOptions) {
    this.#address = address;
    this.#options = options;
    this.#pool = new Pool(new URL(address).origin, { connections: 256 });
  }

  get waiting(): number {
    return this.#open.size + this.#published.size;
  }

  /** Returns false, and drops the webhooks, if too many are waiting already. */
  publish(webhooks: Iterable<Webhook>): boolean {
    if (this.#published.size >= mostPublished) return false;
    this.#published.add(webhooks[Symbol.iterator]());
    this.#pump();
    return true;
  }

  /** Drops everything that waits. */
  clear(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const waiting of [this.#timers, this.#published, this.#open, this.#due]) waiting.clear();
  }

  async close(): Promise<void> {
    this.clear();
    await this.#pool.destroy();
  }

  /** Starts attempts asynchronously and in batches, so that other work is not blocked. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    setImmediate(() => {
      this.#pumping = false;
      for (
        let taken = 0;
        taken < portion && this.#open.size < mostOpen && this.#published.size > 0;
        taken += 1
      ) {
        if (this.#due.size >= this.#options.settings().concurrency) break;
        this.#takeUp();
      }
      for (const delivery of this.#due) {
        if (this.#sending >= this.#options.settings().concurrency) return;
        this.#due.delete(delivery);
        void this.#send(delivery);
      }
      if (this.#published.size > 0 && this.#open.size < mostOpen) this.#pump();
    });
  }

  #takeUp(): void {
    const [source] = this.#published;
    const next = source?.next();
    if (source === undefined || next === undefined) return;
    if (next.done === true) {
      this.#published.delete(source);
      return;
    }
    this.#taken += 1;
    const fate = drawFate(this.#options.settings(), this.#taken);
    if (fate.lost) this.#options.log.add(next.value, this.#address, 'genuine').state = 'lost';
    else this.#start(next.value, 'genuine', fate.delayMs);
    if (fate.doubled) this.#start(next.value, 'double', 0);
    if (fate.forged) this.#start(next.value, 'forged', 0);
  }

  #start(webhook: Webhook, kind: DeliveryKind, delayMs: number): void {
    const report = this.#options.log.add(webhook, this.#address, kind);
    const delivery = { body: webhook.body, report };
    this.#open.add(delivery);
    if (delayMs === 0) this.#due.add(delivery);
    else this.#sendLater(delivery, delayMs);
  }

  async #send(delivery: Delivery): Promise<void> {
    const { body, report } = delivery;
    const { address, kind } = report;
    const { attempts, spreadMs, timeoutMs } = this.#options.settings();
    const secret = kind === 'forged' ? 'not the secret' : this.#options.clientSecret;
    this.#sending += 1;
    report.attempts += 1;
    const result = await post(this.#pool, { address, body, signature: sign(body, secret), timeoutMs });
    this.#sending -= 1;
    report.lastStatus = result.status;
    report.lastError = result.error;
    if (!this.#open.has(delivery)) return;
    if (result.delivered || kind === 'forged' || report.attempts >= attempts) {
      report.state = result.delivered ? 'delivered' : 'failed';
      this.#open.delete(delivery);
    } else {
      // Waits of 1, 2, 4, … parts add up to the spread.
      this.#sendLater(delivery, (spreadMs * 2 ** (report.attempts - 1)) / (2 ** (attempts - 1) - 1));
    }
    this.#pump();
  }

  #sendLater(delivery: Delivery, ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#due.add(delivery);
      this.#pump();
    }, ms / this.#options.settings().timeFactor);
    timer.unref();
    this.#timers.add(timer);
  }
}

const portion = 64;
const mostPublished = 50_000;
const mostOpen = 20_000;

interface Delivery {
  readonly body: string;
  readonly report: LoggedDelivery;
}

interface DeliveryQueueOptions {
  readonly settings: () => WebhookSettings;
  readonly clientSecret: string;
  readonly log: DeliveryLog;
}
