import { dayMs } from './calendar.ts';
import type { Company } from './company.ts';
import type { Vendor, Vendors } from './vendors.ts';

/** Returns a bill's vendor, dates and state, without amounts. The month rises with the index; each month has the same number of bills. */
export function createBillFacts(company: Company, vendors: Vendors): (index: number) => BillFacts {
  const perMonth = Math.max(1, Math.ceil(company.counts.bills / company.months.length));
  const chance = company.dice('bill-facts');
  return (index) => {
    const number = chance(index);
    const vendor = vendors.at(index);
    const month = company.months[Math.floor(index / perMonth)] ?? company.months[0];
    const issuedAt = Math.min(month + (number % 28) * dayMs, company.asOf - dayMs);
    return {
      vendor,
      issuedAt,
      dueAt: issuedAt + vendor.termDays * dayMs,
      state: drawState((number >>> 6) % 1_000, issuedAt > company.asOf - 20 * dayMs),
    };
  };
}

function drawState(permille: number, recent: boolean): BillState {
  if (permille < 12) return 'void';
  if (permille < 16) return 'draft';
  if (permille < 18) return 'unknown';
  return recent && permille < 70 ? 'submitted' : 'posted';
}

/** The state of a bill before payments: only posted bills are paid or credited. */
export type BillState = 'posted' | 'void' | 'draft' | 'submitted' | 'unknown';

export interface BillFacts {
  readonly vendor: Vendor;
  readonly issuedAt: number;
  readonly dueAt: number;
  readonly state: BillState;
}
