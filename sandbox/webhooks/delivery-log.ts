import type { Webhook } from './webhook.ts';

/** The outcomes of the newest deliveries, for tests to inspect. Bodies are left out, because they contain access tokens. */
export class DeliveryLog {
  #deliveries: LoggedDelivery[] = [];
  #total = 0;

  add({ type, code, connection, recordId }: Webhook, address: string, kind: DeliveryKind): LoggedDelivery {
    this.#total += 1;
    const delivery: LoggedDelivery = {
      number: this.#total,
      address,
      type,
      code,
      connection,
      recordId,
      kind,
      state: 'waiting',
      attempts: 0,
      lastStatus: null,
      lastError: null,
    };
    this.#deliveries.push(delivery);
    if (this.#deliveries.length > 2 * kept) this.#deliveries = this.#deliveries.slice(-kept);
    return delivery;
  }

  get total(): number {
    return this.#total;
  }

  list(): readonly LoggedDelivery[] {
    return this.#deliveries.slice(-kept);
  }

  clear(): void {
    this.#deliveries = [];
    this.#total = 0;
  }
}

const kept = 10_000;

/** One webhook being delivered to one address. */
export interface LoggedDelivery {
  readonly number: number;
  readonly address: string;
  readonly type: string;
  readonly code: string;
  readonly connection: string;
  readonly recordId: string | null;
  readonly kind: DeliveryKind;
  state: 'waiting' | 'delivered' | 'failed' | 'lost';
  attempts: number;
  lastStatus: number | null;
  /** The reason if there was no status. */
  lastError: string | null;
}

export type DeliveryKind = 'genuine' | 'double' | 'forged';
