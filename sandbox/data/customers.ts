import { dayMs, isoTime } from './calendar.ts';
import type { Company } from './company.ts';
import { firstSyncedAt } from './first-sync.ts';
import { pick } from './pick.ts';
import { indexOfPlatformId, platformIdAt } from './platform-ids.ts';
import type { RecordSource } from './record-source.ts';
import { cities, companyNames, personNames } from './words.ts';

/** Accounting customers (2.6). */
export function createCustomers(company: Company): RecordSource {
  const ids = company.ids('customers');
  const chance = company.dice('customers');

  function updatedAt(index: number): number {
    return (
      company.months[0] + (chance(index) % Math.floor((company.asOf - company.months[0]) / 1_000)) * 1_000
    );
  }

  function customerName(index: number): string | null {
    if (chance(index) % 50 === 1) return null;
    return `${pick(companyNames, chance(index) >>> 4)} ${(index + 1).toString()}`;
  }

  function render(index: number, lastSyncedAt: number): string {
    const number = chance(index);
    const person = pick(personNames, number >>> 6);
    const parent =
      company.platform.parentCustomers && index > 0 && number % 10 === 0
        ? `"${ids.at(index >>> 1)}"`
        : 'null';
    const subsidiary = company.platform.subsidiaries
      ? `"${pick(company.subsidiaryIds, number >>> 7)}"`
      : 'null';
    const types = number % 3 === 0 ? ['billing', 'shipping'] : ['billing'];
    const addresses =
      number % 30 === 2 ? [] : types.map((type, position) => renderAddress(type, number >>> position));
    return (
      `{"id":"${ids.at(index)}","platform_id":"${platformIdAt(index)}","parent_id":${parent},"subsidiary_id":${subsidiary},` +
      `"status":"${pick(statuses, number >>> 3)}",` +
      `"contact_name":${number % 8 === 0 ? 'null' : JSON.stringify(person)},` +
      `"currency_code":${number % 9 === 0 ? 'null' : `"${company.home.code}"`},"customer_name":${JSON.stringify(customerName(index))},` +
      `"email":${number % 5 === 0 ? 'null' : `"contact${(index + 1).toString()}@example.com"`},` +
      `"phone":${number % 4 === 0 ? 'null' : `"+1 555 01${(number % 90) + 10}"`},` +
      `"registration_number":${number % 3 === 0 ? `"HRB ${number % 100_000}"` : 'null'},` +
      `"tax_number":${number % 2 === 0 ? `"DE${(number % 900_000_000) + 100_000_000}"` : 'null'},` +
      `"addresses":[${addresses.join(',')}],"updated_at":"${isoTime(updatedAt(index))}",` +
      `"last_synced_at":"${isoTime(lastSyncedAt)}"}`
    );
  }

  return {
    size: company.counts.customers,
    ids,
    platformId: platformIdAt,
    indexOfPlatformId,
    lastSyncedAt: (index) => firstSyncedAt(company.asOf, { index, newest: [company.counts.customers - 1] }),
    updatedAt,
    render,
    platformData: (index) =>
      `{"Id":"${platformIdAt(index)}","MetaData":{"CreateTime":"${isoTime(updatedAt(index) - dayMs)}"}}`,
    facets: { customer_name: customerName },
  };
}

function renderAddress(type: string, number: number): string {
  const { city, region, country, postalCode } = pick(cities, number >>> 5);
  return JSON.stringify({
    type,
    address1: `${((number % 200) + 1).toString()} Main Street`,
    address2: number % 4 === 0 ? 'Suite 5' : null,
    city,
    country,
    postal_code: postalCode,
    region: region === '' ? null : region,
  });
}

const statuses = ['ACTIVE', 'ACTIVE', 'ACTIVE', 'ACTIVE', 'ACTIVE', 'INACTIVE', 'UNKNOWN'] as const;
