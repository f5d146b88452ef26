import { formatDecimal, isEqual, minus, plus, readDecimal, sum, zero } from '../json/decimal.ts';
import type { Decimal } from '../json/decimal.ts';
import { splitElements } from '../json/elements.ts';
import { splitMembers } from '../json/members.ts';
import { completeLines } from './complete-lines.ts';
import { PlatformRefusal } from './platform-refusal.ts';

/**
 * Completes the written fields of a bill, so that the books balance: the totals from the lines if they are not written, the amount
 * due from the total and the links, and the status from the amount due.
 *
 * @throws PlatformRefusal if the bill would not add up.
 */
export function balanceBill(before: Members, written: Members): Map<string, string> {
  const balanced = new Map(written);
  const bill = new Map([...before, ...written]);
  const links = allocatedAmounts(bill);
  if (links.length > 0) refuseOtherParty(before, written);
  if (countedFields.some((name) => written.has(name))) {
    for (const [name, json] of computeTotals(bill, written)) balanced.set(name, json);
  }
  const total = readDecimal(balanced.get('total_amount') ?? bill.get('total_amount'));
  if (total === null || !balancedFields.some((name) => balanced.has(name))) return balanced;
  const due = minus(total, sum(links));
  if (due.units < 0n)
    throw new PlatformRefusal('OVERPAID', 'The total of a bill must not be less than what is settled.');
  balanced.set('amount_due', formatDecimal(due));
  balanced.set('status', settledStatus(bill.get('status'), { due, total, written: written.get('status') }));
  return balanced;
}

function refuseOtherParty(before: Members, written: Members): void {
  for (const name of ['vendor_id', 'currency_code']) {
    if (written.has(name) && written.get(name) !== before.get(name))
      throw new PlatformRefusal('SETTLED', `The ${name} of a bill that is partly settled cannot change.`);
  }
}

function computeTotals(bill: Members, written: Members): Map<string, string> {
  const lines = completeLines(bill.get('line_items') ?? '[]');
  const discount = readDecimal(bill.get('total_discount')) ?? zero;
  const subTotal = readDecimal(written.get('sub_total')) ?? lines.subTotal;
  const tax = readDecimal(written.get('tax_amount')) ?? lines.tax;
  const ofLines = minus(lines.total, discount);
  const total = readDecimal(written.get('total_amount')) ?? ofLines;
  if (!isEqual(total, ofLines) || !isEqual(total, minus(plus(subTotal, tax), discount))) {
    throw new PlatformRefusal(
      'AMOUNTS_DO_NOT_ADD_UP',
      'The total must be that of the lines, and the net amount plus tax, less the discount.',
    );
  }
  const amounts = { sub_total: subTotal, tax_amount: tax, total_amount: total };
  const totals = Object.entries(amounts).map(([name, amount]): [string, string] => {
    const json = written.get(name) ?? 'null';
    return [name, json === 'null' ? formatDecimal(amount) : json];
  });
  return new Map([['line_items', lines.json], ...totals]);
}

/** Returns the status of a bill. Only posted bills are settled, and their amounts decide whether they are, not the client. */
function settledStatus(status: string | undefined, { due, total, written }: Settlement): string {
  if (status !== undefined && unposted.has(status)) {
    if (isEqual(due, total)) return status;
    throw new PlatformRefusal('SETTLED', `A bill that is partly settled cannot be ${status}.`);
  }
  const derived = isEqual(due, zero) ? '"paid"' : isEqual(due, total) ? '"open"' : '"partially_paid"';
  if (written !== undefined && written !== derived)
    throw new PlatformRefusal('STATUS_MISMATCH', `By its amounts the bill is ${derived}, not ${written}.`);
  return derived;
}

function allocatedAmounts(bill: Members): Decimal[] {
  return ['linked_payments', 'linked_credit_memos']
    .flatMap((name) => splitElements(bill.get(name) ?? '[]'))
    .map((entry) => readDecimal(splitMembers(entry).get('allocated_amount')) ?? zero);
}

const countedFields = ['line_items', 'total_discount', 'sub_total', 'tax_amount', 'total_amount'];
const balancedFields = [...countedFields, 'status'];
const unposted = new Set(['"draft"', '"submitted"', '"void"', '"unknown"']);

interface Settlement {
  readonly due: Decimal;
  readonly total: Decimal;
  readonly written: string | undefined;
}

type Members = ReadonlyMap<string, string>;
