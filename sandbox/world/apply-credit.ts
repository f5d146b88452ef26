import { formatDecimal, isEqual, minus, readDecimal, sum, zero } from '../json/decimal.ts';
import type { Decimal } from '../json/decimal.ts';
import { joinElements, splitElements } from '../json/elements.ts';
import { joinMembers, splitMembers } from '../json/members.ts';
import type { Collection } from './collection.ts';
import type { CommandOf } from './command.ts';
import { CommandError } from './command-error.ts';
import type { Connection } from './connection.ts';
import type { StoredRecord } from './stored-record.ts';
import { writeChanged } from './write-record.ts';

/**
 * Applies a bill credit memo to bills (2.5): exactly what leaves the memo's remainder leaves the bills' amounts due, and both sides
 * link to each other. Whether the platform allows it is not checked here.
 *
 * @throws CommandError if a record does not exist, or has no amounts to compute with; then nothing has changed.
 */
export function applyCredit(
  { collections }: Connection,
  command: CommandOf<'apply-credit'>,
  at: number,
): { id: string } {
  const { bills: billBooks, bill_credit_memos: memoBooks } = collections;
  const memo = open(memoBooks, command.memo, 'remaining_amount');
  const bills = command.bills.map(({ id, amount }) => ({
    bill: open(billBooks, id, 'amount_due'),
    amount: requireAmount(amount, `The amount for ${id}`),
    memoEntry: allocation(id, command.date, amount),
    billEntry: allocation(command.memo, command.date, amount),
  }));

  for (const { bill, amount, billEntry } of bills) {
    const patch = settled(bill, amount, 'linked_credit_memos', [billEntry]);
    writeChanged(billBooks, 'bills', { record: bill.record, patch }, at);
  }
  const entries = bills.map(({ memoEntry }) => memoEntry);
  const patch = settled(memo, sum(bills.map(({ amount }) => amount)), 'linked_bills', entries);
  writeChanged(memoBooks, 'bill_credit_memos', { record: memo.record, patch }, at);
  return { id: memo.record.id };
}

function open(collection: Collection, id: string, balanceName: Balance): OpenDocument {
  const record = collection.get(id);
  if (record === null) throw new CommandError(`No record ${id}.`);
  const members = splitMembers(collection.text(record));
  return {
    record,
    members,
    balanceName,
    balance: requireAmount(members.get(balanceName), `${balanceName} of ${id}`),
  };
}

function settled(
  document: OpenDocument,
  amount: Decimal,
  links: 'linked_bills' | 'linked_credit_memos',
  entries: readonly string[],
): Map<string, string> {
  const left = minus(document.balance, amount);
  return new Map([
    [document.balanceName, formatDecimal(left)],
    ['status', isEqual(left, zero) ? '"paid"' : '"partially_paid"'],
    [links, joinElements([...splitElements(document.members.get(links) ?? '[]'), ...entries])],
  ]);
}

/** Returns the JSON text of an allocation entry (2.1), with its amount as written. */
function allocation(id: string, date: string, amount: string): string {
  return joinMembers(
    new Map([
      ['id', JSON.stringify(id)],
      ['allocated_date', JSON.stringify(date)],
      ['allocated_amount', amount],
    ]),
  );
}

function requireAmount(json: string | undefined, what: string): Decimal {
  const amount = readDecimal(json);
  if (amount === null) throw new CommandError(`${what} is no number.`);
  return amount;
}

type Balance = 'remaining_amount' | 'amount_due';

interface OpenDocument {
  readonly record: StoredRecord;
  readonly members: ReadonlyMap<string, string>;
  readonly balanceName: Balance;
  readonly balance: Decimal;
}
