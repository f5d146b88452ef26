import { hourMs, isoTime, timeOrNull } from './calendar.ts';
import type { Company } from './company.ts';
import { formatAmount } from './currencies.ts';
import { firstSyncedAt } from './first-sync.ts';
import type { DocumentAmounts } from './line-amounts.ts';
import { taxRatesInBasisPoints } from './line-amounts.ts';
import { createLineRenderer } from './money-lines.ts';
import type { Payables } from './payables.ts';
import { pick } from './pick.ts';
import { indexOfPlatformId, platformIdAt } from './platform-ids.ts';
import { createRawDocuments } from './raw-documents.ts';
import type { RecordSource } from './record-source.ts';
import { renderAllocation } from './render-allocation.ts';
import { memoTexts } from './words.ts';

/** Bill credit memos (2.4): remaining = total - applied, and each application equals the one its bill shows. */
export function createBillCreditMemos(company: Company, payables: Payables): RecordSource {
  const { credits } = payables;
  const ids = company.ids('bill_credit_memos');
  const billIds = company.ids('bills');
  const chance = company.dice('bill-credit-memos');
  const renderLines = createLineRenderer(company, 'memo');
  const rawDocument = createRawDocuments(company);

  function updatedAt(index: number): number | null {
    if (chance(index) % 80 === 1) return null;
    return Math.max(credits.issuedAt(index), ...credits.linksOf(index).map(({ at }) => at)) + 16 * hourMs;
  }

  function render(index: number, lastSyncedAt: number): string {
    const number = chance(index);
    const { vendor } = payables.factsOf(credits.targetOf(index));
    const money = (minor: number) => formatAmount(minor, vendor.currency.digits);
    const applied = payables.creditedBills(index);
    const appliedAmount = applied.reduce((sum, { amount }) => sum + amount, 0);
    // Most memos are fully applied; one that is not applied at all must remain in full.
    const remaining = appliedAmount > 0 && number % 3 !== 0 ? 0 : 4_000 + (number % 90_000);
    const total = appliedAmount + remaining;
    const status = credits.isVoid(index) ? 'void' : memoStatus(remaining, total);
    const issuedAt = credits.issuedAt(index);
    const linkedBills = applied.map(({ bill, at, amount }) =>
      renderAllocation(billIds.at(bill), at, amount, vendor.currency),
    );
    return (
      `{"id":"${ids.at(index)}","platform_id":"${platformIdAt(index)}",` +
      `"account_id":"${pick(company.payableAccounts, number >>> 5)}","vendor_id":"${vendor.id}",` +
      `"issue_date":"${isoTime(issuedAt)}","document_number":"CM-${(5_000 + index).toString()}",` +
      `"remaining_amount":${money(remaining)},"status":"${status}","total_amount":${money(total)},` +
      `"currency_code":${number % 120 === 7 ? 'null' : `"${vendor.currency.code}"`},` +
      `"memo":${number % 4 === 0 ? pick(memoTexts, number >>> 9) : 'null'},"linked_bills":[${linkedBills.join(',')}],` +
      `"line_items":${renderLines({ index, vendor, amounts: splitTotal(total, number, vendor.taxRate) })},` +
      `"created_at":"${isoTime(issuedAt + 9 * hourMs)}","updated_at":${timeOrNull(updatedAt(index))},` +
      `"last_synced_at":"${isoTime(lastSyncedAt)}"}`
    );
  }

  return {
    size: company.counts.bill_credit_memos,
    ids,
    platformId: platformIdAt,
    indexOfPlatformId,
    lastSyncedAt: (index) =>
      firstSyncedAt(company.asOf, { index, newest: [company.counts.bill_credit_memos - 1] }),
    updatedAt,
    render,
    platformData: (index) => rawDocument('credit', render(index, company.asOf)),
    facets: {},
  };
}

function memoStatus(remaining: number, total: number): string {
  if (remaining === 0) return 'paid';
  return remaining === total ? 'open' : 'partially_paid';
}

/** Splits a total into one to three lines, each including its tax, so that lines and header agree exactly. */
function splitTotal(total: number, number: number, taxRate: number): Pick<DocumentAmounts, 'lines'> {
  const count = 1 + (number % 3);
  const part = Math.floor(total / count);
  const basisPoints = taxRatesInBasisPoints[taxRate] ?? 0;
  const lines = Array.from({ length: count }, (_, position) => {
    const lineTotal = position === 0 ? total - part * (count - 1) : part;
    const tax = Math.floor((lineTotal * basisPoints) / (10_000 + basisPoints));
    const subTotal = lineTotal - tax;
    return {
      quarters: 4,
      unitAmount: subTotal,
      discount: 0,
      discountPercentage: 0,
      subTotal,
      tax,
      total: lineTotal,
    };
  });
  return { lines };
}
