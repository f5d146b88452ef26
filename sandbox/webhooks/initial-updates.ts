import { batchesArrived } from '../world/arrival.ts';
import type { Connection } from '../world/connection.ts';
import type { World } from '../world/world.ts';
import type { Webhook } from './webhook.ts';
import type { WebhookSender } from './webhook-sender.ts';

/**
 * Announces the connections that have become ready, or have received another batch, since the last look (section 3). Connections that
 * were ready at the start count as announced.
 */
export class InitialUpdates {
  readonly #world: World;
  readonly #sender: WebhookSender;
  readonly #announced = new Map<string, number>();

  constructor(world: World, sender: WebhookSender) {
    this.#world = world;
    this.#sender = sender;
    this.#newlyArrived();
  }

  announce(): void {
    const webhooks = this.#newlyArrived();
    if (webhooks.length > 0) this.#sender.publish(webhooks);
  }

  #newlyArrived(): Webhook[] {
    const now = this.#world.clock.now();
    return [...this.#world.connections.values()].flatMap((connection) => {
      const announced = this.#announced.get(connection.name) ?? 0;
      const arrived = Math.max(announced, batchesArrived(connection.arrival, now));
      this.#announced.set(connection.name, arrived);
      return Array.from({ length: arrived - announced }, () => initialUpdate(connection));
    });
  }
}

function initialUpdate({ name, id, accessToken }: Connection): Webhook {
  const [type, code] = ['CONNECTION', 'INITIAL_UPDATE'];
  const body = JSON.stringify({ type, code, connection_id: id, access_token: accessToken });
  return { type, code, connection: name, recordId: null, body };
}
