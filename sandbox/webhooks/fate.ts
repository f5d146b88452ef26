import { dice } from '../data/dice.ts';
import type { WebhookSettings } from './webhook-settings.ts';

/** Returns what happens to the n-th webhook of an address; the same seed gives the same result. */
export function drawFate(settings: WebhookSettings, number: number): Fate {
  const chance = (question: string) => dice(`webhooks/${settings.seed}/${question}`)(number) / 2 ** 32;
  return {
    lost: chance('lost') < settings.lost,
    doubled: chance('doubled') < settings.doubled,
    forged: chance('forged') < settings.forged,
    delayMs: chance('delayed') < settings.delayed ? chance('delay') * settings.delayMs : 0,
  };
}

export interface Fate {
  readonly lost: boolean;
  readonly doubled: boolean;
  readonly forged: boolean;
  readonly delayMs: number;
}
