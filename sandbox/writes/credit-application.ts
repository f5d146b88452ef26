import * as z from 'zod';
import { ApiError } from '../api/api-error.ts';
import type { DataRequest } from '../api/data-request.ts';
import { minus, readDecimal, sum, zero } from '../json/decimal.ts';
import type { Decimal } from '../json/decimal.ts';
import { splitElements } from '../json/elements.ts';
import { joinMembers, splitMembers } from '../json/members.ts';
import type { Collection } from '../world/collection.ts';
import type { Connection } from '../world/connection.ts';
import { PlatformRefusal } from './platform-refusal.ts';
import { invalidBody } from './read-body.ts';
import { currency, time } from './record-fields.ts';
import type { WriteService } from './write-service.ts';

/**
 * Reads a bill credit application (2.5); amounts stay as written.
 *
 * @throws ApiError 400 that says what is wrong.
 */
export function readCreditApplication(members: ReadonlyMap<string, string>): CreditApplication {
  const parsed = schema.safeParse(JSON.parse(joinMembers(members)));
  if (!parsed.success) throw invalidBody(parsed.error, ['bill_credit_application']);
  const bills = splitElements(members.get('linked_bills') ?? '[]').map((entry, position) => ({
    id: parsed.data.linked_bills[position]?.id ?? '',
    amount: splitMembers(entry).get('allocated_amount') ?? '',
  }));
  return { ...parsed.data, bills };
}

/**
 * Applies the credit and returns the answer (4.4). If a part cannot be applied, nothing is.
 *
 * @throws ApiError 400 for records that do not exist; PlatformRefusal for what the books do not allow.
 */
export function applyCreditMemo(
  service: WriteService,
  { connection, now }: DataRequest<Connection>,
  application: CreditApplication,
): string {
  const { bill_credit_memos: memos, bills } = connection.collections;
  const memo = openDocument(memos, application.bill_credit_memo_id, 'remaining_amount');
  const credits = application.bills.map(({ id, amount }) => ({
    bill: openDocument(bills, id, 'amount_due'),
    amount: readDecimal(amount) ?? zero,
  }));

  refuseMismatch('vendor_id', [
    application.vendor_id,
    memo.vendor_id,
    ...credits.map(({ bill }) => bill.vendor_id),
  ]);
  const currencies = [memo.currency_code, ...credits.map(({ bill }) => bill.currency_code)];
  refuseMismatch('currency_code', [application.currency_code, ...currencies]);
  refuseExcess(memo, sum(credits.map(({ amount }) => amount)));
  for (const { bill, amount } of credits) refuseExcess(bill, amount);

  const today = `${new Date(now).toISOString().slice(0, 10)}T00:00:00.000Z`;
  service.execute({
    kind: 'apply-credit',
    connection: connection.name,
    memo: application.bill_credit_memo_id,
    date: application.transaction_date ?? today,
    bills: application.bills,
  });
  return '{"bill_credit_application":{"success":true}}';
}

function openDocument(
  collection: Collection,
  id: string,
  balance: 'remaining_amount' | 'amount_due',
): OpenDocument {
  const record = collection.get(id);
  if (record === null)
    throw new ApiError(400, 'INVALID_BODY', `There is no record ${id} to apply a credit to or from.`);
  const members = splitMembers(collection.text(record));
  const parties = partiesSchema.parse(JSON.parse(collection.text(record)));
  return { ...parties, id, balance: readDecimal(members.get(balance)) ?? zero };
}

/** Throws if values differ. A value that is not given or not known matches all others. */
function refuseMismatch(name: string, values: readonly (string | null | undefined)[]): void {
  const known = new Set(values.filter((value) => value !== null && value !== undefined));
  if (known.size > 1)
    throw new PlatformRefusal(
      'MISMATCH',
      `The credit memo, the bills and the application differ in ${name}.`,
    );
}

function refuseExcess({ id, status, balance }: OpenDocument, amount: Decimal): void {
  if (status !== 'open' && status !== 'partially_paid')
    throw new PlatformRefusal('NOT_OPEN', `The record ${id} is ${String(status)}: nothing can be applied.`);
  if (minus(balance, amount).units < 0n)
    throw new PlatformRefusal('OVER_APPLIED', `More than the balance of ${id} would be applied.`);
}

const schema = z.object({
  bill_credit_memo_id: z.string(),
  vendor_id: z.string().nullish(),
  transaction_date: time.optional(),
  currency_code: currency.nullish(),
  memo: z.string().nullish(),
  linked_bills: z
    .array(z.object({ id: z.string(), allocated_amount: z.number().positive() }))
    .min(1)
    .refine((bills) => new Set(bills.map(({ id }) => id)).size === bills.length, 'names a bill twice'),
});

/** Records may have any shape (chaos profiles): a value that is not text counts as unknown. */
const partiesSchema = z.object({
  vendor_id: z.string().nullable().catch(null),
  currency_code: z.string().nullable().catch(null),
  status: z.string().nullable().catch(null),
});

interface OpenDocument extends z.output<typeof partiesSchema> {
  readonly id: string;
  readonly balance: Decimal;
}

export interface CreditApplication extends z.output<typeof schema> {
  readonly bills: { readonly id: string; readonly amount: string }[];
}
