import { hourMs } from './calendar.ts';
import { createBillFacts } from './bill-facts.ts';
import type { BillFacts } from './bill-facts.ts';
import type { Company } from './company.ts';
import { createCreditLinks } from './credit-links.ts';
import type { CreditLink, CreditLinks } from './credit-links.ts';
import { createOriginalOf } from './entered-twice.ts';
import { createBillAmounts } from './line-amounts.ts';
import type { DocumentAmounts } from './line-amounts.ts';
import { createPayments } from './payments.ts';
import type { PaymentPart } from './payments.ts';
import type { Vendor, Vendors } from './vendors.ts';

/** Computes a company's payables in whole minor units: bills, with their payments and credits. */
export function createPayables(company: Company, vendors: Vendors): Payables {
  const factsOf = createBillFacts(company, vendors);
  const drawAmounts = createBillAmounts(company);
  const originalOf = createOriginalOf(company, vendors.count);
  const amountsOf = (index: number, vendor: Vendor) => drawAmounts(originalOf(index), vendor);
  const credits = createCreditLinks(company, vendors.count, factsOf);
  const paymentsOf = createPayments(company);

  return {
    credits,
    factsOf,
    originalOf,
    settle(index) {
      const facts = factsOf(index);
      const amounts = amountsOf(index, facts.vendor);
      const credited = credits.creditsOf(index).map((link) => allocated(link, amounts.total));
      const payable = amounts.total - sumAmounts(credited);
      const paid = paymentsOf(index, facts).map((part) => ({
        at: part.at,
        amount: partAmount(payable, part),
      }));
      const lastMovedAt = lastChange(facts, [...paid, ...credited]);
      return {
        facts,
        amounts,
        credits: credited,
        payments: paid,
        due: payable - sumAmounts(paid),
        lastMovedAt,
      };
    },
    creditedBills: (memo) =>
      credits
        .linksOf(memo)
        .map((link) => allocated(link, amountsOf(link.bill, factsOf(link.bill).vendor).total)),
    lastMovedAt(index) {
      const facts = factsOf(index);
      return lastChange(facts, [...paymentsOf(index, facts), ...credits.creditsOf(index)]);
    },
  };
}

function allocated(link: CreditLink, billTotal: number): AllocatedCredit {
  return { ...link, amount: Math.floor((billTotal * link.percent) / 100) };
}

function partAmount(payable: number, { half }: PaymentPart): number {
  const firstHalf = Math.floor(payable / 2);
  return half === 'all' ? payable : half === 'first' ? firstHalf : payable - firstHalf;
}

function lastChange(facts: BillFacts, moves: readonly { at: number }[]): number {
  return moves.reduce((last, { at }) => Math.max(last, at), facts.issuedAt) + 15 * hourMs;
}

function sumAmounts(parts: readonly { amount: number }[]): number {
  return parts.reduce((sum, { amount }) => sum + amount, 0);
}

export interface Payables {
  readonly credits: CreditLinks;
  factsOf(index: number): BillFacts;
  /** The bill of which this one is a second entry, or the bill itself. */
  originalOf(index: number): number;
  settle(index: number): SettledBill;
  /** The allocations of a memo, as the memo shows them: equal to those on its bills. */
  creditedBills(memo: number): AllocatedCredit[];
  /** `lastMovedAt` of the settled bill, without computing its amounts. */
  lastMovedAt(index: number): number;
}

export interface SettledBill {
  readonly facts: BillFacts;
  readonly amounts: DocumentAmounts;
  readonly credits: readonly AllocatedCredit[];
  readonly payments: readonly { at: number; amount: number }[];
  /** total - payments - credits. */
  readonly due: number;
  /** The time of the bill's last change on the platform. */
  readonly lastMovedAt: number;
}

export interface AllocatedCredit extends CreditLink {
  readonly amount: number;
}
