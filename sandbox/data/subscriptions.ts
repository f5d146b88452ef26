import { dayMs, isoTime } from './calendar.ts';
import type { Company } from './company.ts';
import { currencies, formatAmount } from './currencies.ts';
import type { Currency } from './currencies.ts';
import { firstSyncedAt } from './first-sync.ts';
import { pick } from './pick.ts';
import { platformIdAt } from './platform-ids.ts';
import type { RecordSource } from './record-source.ts';

/** Subscriptions (2.8): no `last_synced_at`; amount = quantity × unit amount; every interval of the service. */
export function createSubscriptions(company: Company): RecordSource {
  const ids = company.ids('subscriptions');
  const chance = company.dice('subscriptions');
  const span = company.asOf - company.months[0];

  function createdAt(index: number): number {
    return company.months[0] + Math.floor(((chance(index) % 10_000) * span) / 20_000 / dayMs) * dayMs;
  }

  function updatedAt(index: number): number {
    const later = Math.floor((company.asOf - createdAt(index)) / 1_000);
    return createdAt(index) + ((chance(index) >>> 2) % later) * 1_000;
  }

  function renderItem(index: number, position: number, currency: Currency): string {
    const number = chance(index * 2 + position + 5_000_011);
    const { interval, count } = pick(periods, number);
    const quantity = 1 + ((number >>> 5) % 25);
    const unitAmount = (99 + ((number >>> 9) % 50_000)) * currency.minorPerCent;
    return (
      `{"platform_id":"si_${(index * 2 + position + 1).toString()}","interval":"${interval}","interval_count":${count},` +
      `"quantity":${quantity},"amount":${formatAmount(quantity * unitAmount, currency.digits)},` +
      `"unit_amount":${formatAmount(unitAmount, currency.digits)}}`
    );
  }

  function render(index: number): string {
    const number = chance(index);
    const currency = number % 6 === 0 ? pick(foreign, number >>> 4) : company.home;
    const items = Array.from({ length: 1 + (number % 2) }, (_, position) =>
      renderItem(index, position, currency),
    );
    return (
      `{"id":"${ids.at(index)}","platform_id":"sub_${platformIdAt(index)}",` +
      `"platform_customer_id":${number % 40 === 1 ? 'null' : `"cus_${(1 + (number % Math.max(1, company.counts.subscriptions))).toString()}"`},` +
      `"iso_currency_code":"${currency.code}","status":"${pick(statuses, number >>> 7)}","items":[${items.join(',')}],` +
      `"created_at":"${isoTime(createdAt(index))}","updated_at":"${isoTime(updatedAt(index))}"}`
    );
  }

  return {
    size: company.counts.subscriptions,
    ids,
    platformId: (index) => `sub_${platformIdAt(index)}`,
    indexOfPlatformId: () => null,
    lastSyncedAt: (index) =>
      firstSyncedAt(company.asOf, { index, newest: [company.counts.subscriptions - 1] }),
    updatedAt,
    render,
    platformData: () => '{}',
    facets: {},
  };
}

const foreign: readonly [Currency, ...Currency[]] = [currencies.EUR, currencies.JPY, currencies.KWD];

const periods = [
  { interval: 'month', count: 1 },
  { interval: 'year', count: 1 },
  { interval: 'month', count: 3 },
  { interval: 'week', count: 2 },
  { interval: 'day', count: 1 },
  { interval: 'month', count: 1 },
  { interval: 'month', count: 6 },
] as const;

const statuses = [
  'active',
  'active',
  'active',
  'active',
  'active',
  'active',
  'in_trial',
  'canceled',
  'canceled',
  'paused',
  'unknown',
] as const;
