import { formatDecimal, isEqual, minus, plus, readDecimal, sum, times, zero } from '../json/decimal.ts';
import type { Decimal } from '../json/decimal.ts';
import { joinElements, splitElements } from '../json/elements.ts';
import { joinMembers, splitMembers } from '../json/members.ts';
import { PlatformRefusal } from './platform-refusal.ts';

/**
 * Computes the missing amounts of the lines of a bill or memo: total = net + tax, net = quantity × unit
 * amount - discount, where a percentage refers to quantity × unit amount. Written amounts stay as they are; a line
 * without any amount is only a description.
 *
 * @throws PlatformRefusal if a line does not add up.
 */
export function completeLines(json: string): CompleteLines {
  const lines = splitElements(json).map(completeLine);
  return {
    json: joinElements(lines.map((line) => line.json)),
    subTotal: sum(lines.map(({ subTotal }) => subTotal)),
    tax: sum(lines.map(({ tax }) => tax)),
    total: sum(lines.map(({ total }) => total)),
  };
}

function completeLine(json: string): CompleteLines {
  const members = splitMembers(json);
  const written = (name: string) => readDecimal(members.get(name));
  const tax = written('tax_amount') ?? zero;
  const total = written('total_amount');
  const subTotal = written('sub_total') ?? (total === null ? computeNet(members) : minus(total, tax));
  if (subTotal === null) return { json, subTotal: zero, tax: zero, total: zero };
  const sumOfBoth = plus(subTotal, tax);
  if (total !== null && !isEqual(total, sumOfBoth))
    throw new PlatformRefusal(
      'AMOUNTS_DO_NOT_ADD_UP',
      'The total of a line must be its net amount plus tax.',
    );
  const amounts = { sub_total: subTotal, tax_amount: tax, total_amount: total ?? sumOfBoth };
  for (const [name, amount] of Object.entries(amounts)) {
    if (written(name) === null) members.set(name, formatDecimal(amount));
  }
  return { json: joinMembers(members), subTotal, tax, total: amounts.total_amount };
}

function computeNet(members: ReadonlyMap<string, string>): Decimal | null {
  const item = members.get('item') ?? 'null';
  const { quantity, unitAmount } = item === 'null' ? noItem : readPrices(item);
  if (quantity === null || unitAmount === null) return null;
  const gross = times(quantity, unitAmount);
  return minus(gross, readDecimal(members.get('discount_amount')) ?? computeDiscount(gross, members));
}

function computeDiscount(gross: Decimal, members: ReadonlyMap<string, string>): Decimal {
  const percentage = readDecimal(members.get('discount_percentage'));
  return percentage === null ? zero : times(gross, times(percentage, hundredth));
}

const hundredth: Decimal = { units: 1n, digits: 2 };

function readPrices(item: string): Prices {
  const members = splitMembers(item);
  return {
    quantity: readDecimal(members.get('quantity')),
    unitAmount: readDecimal(members.get('unit_amount')),
  };
}

const noItem: Prices = { quantity: null, unitAmount: null };

interface Prices {
  readonly quantity: Decimal | null;
  readonly unitAmount: Decimal | null;
}

/** JSON text of the lines, or of one line, and the sums. */
interface CompleteLines {
  readonly json: string;
  readonly subTotal: Decimal;
  readonly tax: Decimal;
  readonly total: Decimal;
}
