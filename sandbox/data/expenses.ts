import { dayMs, hourMs, isoTime, timeOrNull } from './calendar.ts';
import type { Company } from './company.ts';
import { exchangeRate, formatAmount } from './currencies.ts';
import { firstSyncedAt } from './first-sync.ts';
import { optionalId } from './optional-id.ts';
import { pick } from './pick.ts';
import { indexOfPlatformId, platformIdAt } from './platform-ids.ts';
import { createRawDocuments } from './raw-documents.ts';
import type { RecordSource } from './record-source.ts';
import type { Vendors } from './vendors.ts';
import { memoTexts, purchaseTexts } from './words.ts';

/** Expenses and refunds (2.3), about one refund for twelve expenses. They have only lines, no header total. */
export function createExpenses(company: Company, vendors: Vendors): RecordSource {
  const ids = company.ids('expenses');
  const chance = company.dice('expenses');
  const lineChance = company.dice('expense-lines');
  const rawDocument = createRawDocuments(company);
  const size = company.counts.expenses;
  const span = company.asOf - company.months[0];

  function transactionDate(index: number): number {
    return company.months[0] + Math.floor((index * span) / size / dayMs) * dayMs;
  }

  function updatedAt(index: number): number | null {
    if (chance(index) % 80 === 1) return null;
    return (
      Math.min(transactionDate(index) + (1 + (chance(index) % 6)) * dayMs, company.asOf - dayMs) + 10 * hourMs
    );
  }

  function expenseType(index: number): string {
    return (chance(index) >>> 6) % 13 === 0 ? 'refund' : 'expense';
  }

  /** The last record of the other type, and the last of all: expenses and refunds are two streams. */
  const newest = [lastOtherThan(expenseType(size - 1)), size - 1];

  function lastOtherThan(type: string): number {
    let index = size - 1;
    while (index > 0 && expenseType(index) === type) index -= 1;
    return index;
  }

  function renderLine(index: number, position: number, digits: number, minorPerCent: number): string {
    const number = lineChance(index * 4 + position);
    return (
      `{"account_id":"${pick(company.expenseAccounts, number >>> 3)}","class_id":${optionalId(company.classes, 3, number >>> 2)},"customer_id":null,` +
      `"department_id":${optionalId(company.departments, 2, number >>> 4)},"location_id":${optionalId(company.locations, 4, number >>> 6)},` +
      `"tax_rate_id":${optionalId(company.taxRates, 3, number >>> 8)},` +
      `"total_amount":${formatAmount((150 + (number % 80_000)) * minorPerCent, digits)},` +
      `"description":${pick(purchaseTexts, number >>> 10)}}`
    );
  }

  function render(index: number, lastSyncedAt: number): string {
    const number = chance(index);
    const vendor = vendors.at(number >>> 3);
    const { currency } = vendor;
    const lines = Array.from({ length: 1 + (number % 3) }, (_, position) =>
      renderLine(index, position, currency.digits, currency.minorPerCent),
    );
    const rate = company.platform.currencyRates && currency.code !== company.home.code;
    return (
      `{"id":"${ids.at(index)}","platform_id":"${platformIdAt(index)}",` +
      `"account_id":"${pick(company.paymentAccounts, number >>> 5)}",` +
      `"subsidiary_id":${company.platform.subsidiaries ? `"${pick(company.subsidiaryIds, number >>> 7)}"` : 'null'},` +
      `"vendor_id":${number % 6 === 0 ? 'null' : `"${vendor.id}"`},"transaction_date":"${isoTime(transactionDate(index))}",` +
      `"currency_code":"${currency.code}","expense_type":"${expenseType(index)}",` +
      (rate ? `"currency_rate":${exchangeRate(currency, company.home)},` : '') +
      `"memo":${number % 4 === 0 ? pick(memoTexts, number >>> 9) : 'null'},"line_items":[${lines.join(',')}],` +
      `"created_at":${timeOrNull(transactionDate(index) + 8 * hourMs)},"updated_at":${timeOrNull(updatedAt(index))},` +
      `"last_synced_at":"${isoTime(lastSyncedAt)}"}`
    );
  }

  return {
    size,
    ids,
    platformId: platformIdAt,
    indexOfPlatformId,
    lastSyncedAt: (index) => firstSyncedAt(company.asOf, { index, newest }),
    updatedAt,
    render,
    platformData: (index) => rawDocument('expense', render(index, company.asOf)),
    facets: { expense_type: expenseType, transaction_date: transactionDate },
  };
}
