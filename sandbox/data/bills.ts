import { dayMs, hourMs, isoTime, timeOrNull } from './calendar.ts';
import type { Company } from './company.ts';
import { exchangeRate, formatAmount } from './currencies.ts';
import { firstSyncedAt } from './first-sync.ts';
import { createLineRenderer } from './money-lines.ts';
import { renderAllocation } from './render-allocation.ts';
import type { Payables, SettledBill } from './payables.ts';
import { pick } from './pick.ts';
import { indexOfPlatformId, platformIdAt } from './platform-ids.ts';
import { createRawDocuments } from './raw-documents.ts';
import type { RecordSource } from './record-source.ts';
import { memoTexts } from './words.ts';

/** Bills (2.2): amount due = total - payments - credits, and total = lines - discount, exactly. */
export function createBills(company: Company, payables: Payables): RecordSource {
  const ids = company.ids('bills');
  const memoIds = company.ids('bill_credit_memos');
  const paymentIds = company.ids('bill-payment');
  const orderIds = company.ids('purchase-order');
  const chance = company.dice('bills');
  const renderLines = createLineRenderer(company, 'bill');
  const rawDocument = createRawDocuments(company);

  function hasNoUpdate(index: number): boolean {
    return chance(index) % 80 === 1;
  }

  function updatedAt(index: number): number | null {
    return hasNoUpdate(index) ? null : payables.lastMovedAt(index);
  }

  function documentNumber(index: number): string | null {
    if (chance(index) % 60 === 2) return null;
    const original = payables.originalOf(index);
    return `${original === index ? 'INV-' : 'inv '}${(10_000 + original).toString()}`;
  }

  function linkedPayments({ facts, payments }: SettledBill): string {
    const { index, currency } = facts.vendor;
    // One payment settles all bills of a vendor that are due on the same payment day.
    return payments
      .map(({ at, amount }) =>
        renderAllocation(paymentIds.at(Math.floor(at / dayMs) * 400 + index), at, amount, currency),
      )
      .join(',');
  }

  function linkedCredits({ facts, credits }: SettledBill): string {
    return credits
      .map(({ memo, at, amount }) => renderAllocation(memoIds.at(memo), at, amount, facts.vendor.currency))
      .join(',');
  }

  function render(index: number, lastSyncedAt: number): string {
    const bill = payables.settle(index);
    const { facts, amounts } = bill;
    const { vendor } = facts;
    const number = chance(index);
    const { digits } = vendor.currency;
    const createdAt = number % 90 === 3 ? null : facts.issuedAt + 9 * hourMs;
    const orders = number % 5 === 0 ? [index, ...(number % 15 === 0 ? [index + 1] : [])] : [];
    const document = documentNumber(index);
    return (
      `{"id":"${ids.at(index)}","platform_id":"${platformIdAt(index)}",` +
      `"account_id":"${pick(company.payableAccounts, number >>> 5)}","payment_terms_id":"${vendor.termsId}",` +
      `"subsidiary_id":${company.platform.subsidiaries ? `"${pick(company.subsidiaryIds, number >>> 7)}"` : 'null'},` +
      `"vendor_id":${number % 200 === 4 ? 'null' : `"${vendor.id}"`},` +
      `"due_date":${number % 70 === 5 ? 'null' : `"${isoTime(facts.dueAt)}"`},"issue_date":"${isoTime(facts.issuedAt)}",` +
      `"amount_due":${formatAmount(bill.due, digits)},"currency_code":"${vendor.currency.code}","status":"${billStatus(bill)}",` +
      `"total_amount":${formatAmount(amounts.total, digits)},"document_number":${document === null ? 'null' : `"${document}"`},` +
      `"memo":${number % 3 === 0 ? pick(memoTexts, number >>> 9) : 'null'},` +
      `"sub_total":${formatAmount(amounts.subTotal, digits)},"tax_amount":${formatAmount(amounts.tax, digits)},"total_discount":${formatAmount(amounts.discount, digits)},` +
      `"linked_purchase_orders":[${orders.map((order) => `{"id":"${orderIds.at(order)}"}`).join(',')}],` +
      (company.platform.currencyRates
        ? `"currency_rate":"${exchangeRate(vendor.currency, company.home)}",`
        : '') +
      `"linked_credit_memos":[${linkedCredits(bill)}],"linked_payments":[${linkedPayments(bill)}],` +
      `"line_items":${renderLines({ index, vendor, amounts })},"created_at":${timeOrNull(createdAt)},` +
      `"updated_at":${timeOrNull(hasNoUpdate(index) ? null : bill.lastMovedAt)},"last_synced_at":"${isoTime(lastSyncedAt)}"}`
    );
  }

  return {
    size: company.counts.bills,
    ids,
    platformId: platformIdAt,
    indexOfPlatformId,
    lastSyncedAt: (index) => firstSyncedAt(company.asOf, { index, newest: [company.counts.bills - 1] }),
    updatedAt,
    render,
    platformData: (index) => rawDocument('bill', render(index, company.asOf)),
    facets: { document_number: documentNumber },
  };
}

function billStatus({ facts, amounts, due }: SettledBill): string {
  if (facts.state !== 'posted') return facts.state;
  if (due === 0) return 'paid';
  return due === amounts.total ? 'open' : 'partially_paid';
}
