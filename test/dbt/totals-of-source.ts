import { isDigits, parseExactly } from '../support/exact-json.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import type { Total } from './totals-by-sql.ts';

/** The totals of a company from the sandbox's records, computed in integers, without a database or a decimal type. */
export async function totalsOfSource(admin: SandboxAdmin, company: string): Promise<Total[]> {
  const content = async (resource: Parameters<SandboxAdmin['content']>[1]): Promise<SourceRecord[]> =>
    (await admin.content(company, resource)).map((text) => parseExactly(text) as SourceRecord);
  const totals = new Map<string, bigint>();
  const add = (measure: string, { currency_code, iso_currency_code }: SourceRecord, units: bigint): void => {
    const key = `${measure} ${currency_code ?? iso_currency_code ?? ''}`;
    totals.set(key, (totals.get(key) ?? 0n) + units);
  };
  const one = unitsPerOne;
  for (const bill of await content('bills')) {
    add('bill lines', bill, BigInt(bill.line_items?.length ?? 0) * one);
    if (!isPosted(bill)) continue;
    add('open bills', bill, unitsOf(bill.amount_due));
    add('spend', bill, unitsOf(bill.total_amount));
  }
  for (const credit of await content('bill_credit_memos')) {
    if (!isPosted(credit)) continue;
    add('open credits', credit, unitsOf(credit.remaining_amount));
    add('credits', credit, unitsOf(credit.total_amount));
    add('spend', credit, -unitsOf(credit.total_amount));
  }
  for (const expense of await content('expenses')) {
    add('expense lines', expense, BigInt(expense.line_items?.length ?? 0) * one);
    const paid = (expense.line_items ?? []).reduce((sum, line) => sum + unitsOf(line.total_amount), 0n);
    const counts = expense.expense_type === 'refund' && paid > 0n ? -paid : paid;
    add('expenses', expense, counts);
    add('spend', expense, counts);
  }
  for (const subscription of await content('subscriptions')) {
    if (subscription.status !== 'active') continue;
    for (const item of subscription.items ?? []) add('mrr', subscription, perMonth(subscription, item));
  }
  return [...totals].map(([key, units]) => ({ key, amount: `${units}e-12` }));
}

/** A record as `parseExactly` returns it. */
type SourceRecord = Readonly<Partial<Record<string, string>>> & {
  readonly line_items?: readonly SourceRecord[];
  readonly items?: readonly SourceRecord[];
};

function isPosted({ status = '' }: SourceRecord): boolean {
  return ['open', 'partially_paid', 'paid'].includes(status);
}

const unitsPerOne = 10n ** 12n;

/** An amount in billionths of a thousandth. */
function unitsOf(value: unknown): bigint {
  if (!isDigits(value)) throw new Error(`${JSON.stringify(value)} is no number.`);
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value.digits) ?? [];
  return BigInt(`${sign}${whole}${fraction.padEnd(12, '0')}`);
}

/** The monthly amount, rounded half up to the minor units of the currency. The sandbox has no negative prices. */
function perMonth(subscription: SourceRecord, item: SourceRecord): bigint {
  const minor = 10n ** BigInt(12 - (decimals[subscription.iso_currency_code ?? ''] ?? 2));
  const count = unitsOf(item.interval_count) / unitsPerOne;
  const [months, per] = lengths[item.interval ?? ''] ?? [0n, 1n];
  const numerator = unitsOf(item.amount) * months;
  const denominator = per * count * minor;
  return ((2n * numerator + denominator) / (2n * denominator)) * minor;
}

const decimals: Record<string, number> = { JPY: 0, KWD: 3 };
const lengths: Record<string, readonly [bigint, bigint]> = {
  day: [365n, 12n],
  week: [52n, 12n],
  month: [1n, 1n],
  year: [1n, 12n],
};
