import { isoTime } from './calendar.ts';
import type { Company } from './company.ts';
import { formatAmount } from './currencies.ts';
import { firstSyncedAt } from './first-sync.ts';
import { pick } from './pick.ts';
import { indexOfPlatformId, platformIdAt } from './platform-ids.ts';
import type { RecordSource } from './record-source.ts';
import { productNames } from './words.ts';

/** Accounting items (2.7), with a purchase and a sales price as decimal strings. */
export function createItems(company: Company): RecordSource {
  const ids = company.ids('items');
  const chance = company.dice('items');

  function updatedAt(index: number): number {
    return (
      company.months[0] + (chance(index) % Math.floor((company.asOf - company.months[0]) / 1_000)) * 1_000
    );
  }

  function itemName(index: number): string {
    return `${pick(productNames, chance(index) >>> 4)} #${(index + 1).toString()}`;
  }

  function render(index: number, lastSyncedAt: number): string {
    const number = chance(index);
    const type = pick(types, number >>> 3);
    // Prices have four decimals, more than the currency's own, as prices of small parts do.
    const cost = 25 + (number % 4_000_000);
    const price = (minor: number) => `"${formatAmount(minor, 4)}"`;
    const subsidiaries = company.platform.subsidiaries
      ? company.subsidiaryIds.slice(0, 1 + (number % 3))
      : [];
    return (
      `{"id":"${ids.at(index)}","platform_id":"${platformIdAt(index)}","status":"${pick(statuses, number >>> 5)}","type":"${type}",` +
      `"code":${number % 7 === 0 ? 'null' : `"SKU-${(index + 100).toString()}"`},"name":${JSON.stringify(itemName(index))},` +
      `"quantity_on_hand":${type === 'inventory' ? formatAmount(number % 500_000, 2) : 'null'},` +
      `"subsidiaries":[${subsidiaries.map((id) => `{"id":"${id}"}`).join(',')}],` +
      `"bill_item":{"description":${number % 6 === 0 ? 'null' : '"Bought in"'},"unit_price":${number % 11 === 0 ? 'null' : price(cost)}},` +
      `"invoice_item":{"description":"For sale","unit_price":${price(cost + Math.floor(cost / 3))}},` +
      `"updated_at":"${isoTime(updatedAt(index))}","last_synced_at":"${isoTime(lastSyncedAt)}"}`
    );
  }

  return {
    size: company.counts.items,
    ids,
    platformId: platformIdAt,
    indexOfPlatformId,
    lastSyncedAt: (index) => firstSyncedAt(company.asOf, { index, newest: [company.counts.items - 1] }),
    updatedAt,
    render,
    platformData: (index) => `{"Id":"${platformIdAt(index)}","Taxable":${chance(index) % 2 === 0}}`,
    facets: { name: itemName },
  };
}

const types = [
  'inventory',
  'non_inventory',
  'service',
  'service',
  'discount',
  'inventory',
  'unknown',
] as const;
const statuses = ['active', 'active', 'active', 'active', 'archived', 'active', 'unknown'] as const;
