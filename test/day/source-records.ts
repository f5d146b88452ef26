import type { ResourceName } from '../../sandbox/api/resources.ts';
import {
  bill,
  billCreditMemo,
  billLine,
  customer,
  expense,
  item,
  list,
  subscription,
  text,
  type Fields,
} from '../support/finance-records.ts';
import type { Chance } from './chance.ts';

/** The changed members of a record after an edit, as JSON text. */
export function buildPatch(resource: ResourceName, chance: Chance): string {
  const note = text(`Edited ${chance.below(2 ** 32)}`);
  return patches[resource](note, digits(chance));
}

const patches: Record<ResourceName, (note: string, amount: string) => string> = {
  bills: (note, amount) =>
    `{"memo":${note},"total_amount":${amount},"line_items":${list(billLine({ sub_total: amount }), billLine())}}`,
  expenses: (note) => `{"memo":${note}}`,
  bill_credit_memos: (note, amount) => `{"memo":${note},"remaining_amount":${amount}}`,
  customers: (note) => `{"contact_name":${note}}`,
  items: (note, amount) => `{"code":${note},"quantity_on_hand":${amount}}`,
  subscriptions: (note) => `{"platform_customer_id":${note}}`,
};

/** A new record that claims to be written at `time` (Unix milliseconds). */
export function newRecord(
  resource: ResourceName,
  { id, time, chance }: { id: string; time: number; chance: Chance },
): string {
  const written = text(new Date(time).toISOString());
  const times = { updated_at: written, ...(resource === 'subscriptions' ? {} : { last_synced_at: written }) };
  return builders[resource](id, times, chance);
}

type Builder = (id: string, times: Fields, chance: Chance) => string;

const builders: Record<ResourceName, Builder> = {
  bills: (id, times, chance) => bill(id, { ...times, total_amount: digits(chance) }),
  expenses: (id, times, chance) =>
    expense(id, { ...times, ...(chance.happens(50) ? { expense_type: '"refund"' } : {}) }),
  bill_credit_memos: (id, times, chance) => billCreditMemo(id, { ...times, total_amount: digits(chance) }),
  customers: (id, times) => customer(id, times),
  items: (id, times, chance) => item(id, { ...times, quantity_on_hand: digits(chance) }),
  subscriptions: (id, times) => subscription(id, times),
};

/** An amount with more digits than a JavaScript number holds, and a trailing zero that must not get lost. */
function digits(chance: Chance): string {
  return `${1 + chance.below(2 ** 31)}${chance.below(2 ** 31)}.${chance.below(1_000)}0`;
}
