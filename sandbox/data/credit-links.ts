import { dayMs } from './calendar.ts';
import type { BillFacts } from './bill-facts.ts';
import type { Company } from './company.ts';

/**
 * Computes which credit memo is applied to which bill, from either side and without storing it. The bills are divided into one
 * block per memo; memo `j` credits one bill of block `j` and, sometimes, a later bill of the same vendor. So bill `i` can only be
 * credited by the memo of its own block, or of the block of the vendor's previous bill.
 */
export function createCreditLinks(
  company: Company,
  vendorCount: number,
  factsOf: (index: number) => BillFacts,
): CreditLinks {
  const { bills, bill_credit_memos: memos } = company.counts;
  const blockSize = Math.max(1, Math.floor(bills / Math.max(1, memos)));
  const chance = company.dice('credit-links');
  const targetOf = (memo: number) => memo * blockSize + (chance(memo) % blockSize);
  const isPosted = (bill: number) => bill >= 0 && bill < bills && factsOf(bill).state === 'posted';

  function linksOf(memo: number): CreditLink[] {
    const use = memoUse((chance(memo) >>> 8) % 100);
    const first = targetOf(memo);
    const candidates = use === 'two' ? [first, first + vendorCount] : use === 'one' ? [first] : [];
    return candidates.filter(isPosted).map((bill, position) => ({
      memo,
      bill,
      percent: position === 0 ? 5 + (chance(memo) % 30) : 2 + (chance(memo) % 15),
      at: Math.min(Math.max(issuedAt(memo), factsOf(bill).issuedAt + dayMs), company.asOf - dayMs),
    }));
  }

  function issuedAt(memo: number): number {
    return Math.min(factsOf(targetOf(memo)).issuedAt + 9 * dayMs, company.asOf - dayMs);
  }

  return {
    targetOf,
    linksOf,
    issuedAt,
    isVoid: (memo) => memoUse((chance(memo) >>> 8) % 100) === 'void',
    creditsOf(bill) {
      return [bill, bill - vendorCount].flatMap((first) => {
        const memo = Math.floor(first / blockSize);
        const concerned = memo >= 0 && memo < memos && targetOf(memo) === first;
        return concerned ? linksOf(memo).filter((link) => link.bill === bill) : [];
      });
    },
  };
}

function memoUse(percentile: number): 'void' | 'none' | 'one' | 'two' {
  if (percentile < 3) return 'void';
  if (percentile < 18) return 'none';
  return percentile < 70 ? 'one' : 'two';
}

export interface CreditLinks {
  /** The bill that a memo refers to, whether applied to it or not; it determines vendor and currency. */
  targetOf(memo: number): number;
  linksOf(memo: number): CreditLink[];
  creditsOf(bill: number): CreditLink[];
  issuedAt(memo: number): number;
  isVoid(memo: number): boolean;
}

export interface CreditLink {
  readonly memo: number;
  readonly bill: number;
  /** The credited share of the bill's total. */
  readonly percent: number;
  readonly at: number;
}
