import { dayMs, nextDayOfMonth } from './calendar.ts';
import type { BillFacts } from './bill-facts.ts';
import type { Company } from './company.ts';

/** Returns when, and in which shares, a bill is paid. The company pays once a month, with the vendor's usual delay after the due date. */
export function createPayments(company: Company): (index: number, facts: BillFacts) => PaymentPart[] {
  const chance = company.dice('payments');
  return (index, facts) => {
    const number = chance(index) % 100;
    if (facts.state !== 'posted' || number < disputedPercent) return [];
    const first = nextDayOfMonth(facts.dueAt + facts.vendor.lateDays * dayMs, payDay);
    const second = nextDayOfMonth(first + dayMs, payDay);
    const plan =
      number < disputedPercent + inTwoPartsPercent
        ? halves(first, second)
        : [{ at: first, half: 'all' as const }];
    return plan.filter(({ at }) => at < company.asOf);
  };
}

function halves(first: number, second: number): PaymentPart[] {
  return [
    { at: first, half: 'first' },
    { at: second, half: 'second' },
  ];
}

const payDay = 27;
const disputedPercent = 3;
const inTwoPartsPercent = 6;

export interface PaymentPart {
  readonly at: number;
  readonly half: 'all' | 'first' | 'second';
}
