import type { Platform } from '../api/platforms.ts';
import type { ResourceName } from '../api/resources.ts';
import { monthStarts } from './calendar.ts';
import { currencies } from './currencies.ts';
import type { Currency } from './currencies.ts';
import { dice } from './dice.ts';
import type { Dice } from './dice.ts';
import { fixedIds, recordIds } from './record-ids.ts';
import type { RecordIds } from './record-ids.ts';

/** Creates the company behind one connection: the data shared by all its records. Everything derives from the description. */
export function createCompany(description: CompanyDescription): Company {
  const scope = `${description.seed}/${description.connection}`;
  const list = (name: string, count: number) => fixedIds(`${scope}/${name}`, count);
  return {
    ...description,
    home:
      Object.values(currencies).find(({ code }) => code === description.platform.homeCurrency) ??
      currencies.USD,
    months: monthStarts(description.asOf, monthsOfHistory),
    ids: (name) => recordIds(`${scope}/${name}`),
    dice: (question) => dice(`${scope}/${question}`),
    expenseAccounts: list('expense-account', 24),
    payableAccounts: list('payable-account', 2),
    paymentAccounts: list('payment-account', 4),
    classes: list('class', 5),
    departments: list('department', 8),
    locations: list('location', 4),
    taxRates: list('tax-rate', 7),
    paymentTerms: list('payment-term', 4),
    subsidiaryIds: list('subsidiary', 3),
  };
}

const monthsOfHistory = 36;

export interface CompanyDescription {
  readonly seed: number;
  readonly connection: string;
  readonly platform: Platform;
  /** The day of the first sync, Unix ms; all documents are older. */
  readonly asOf: number;
  readonly counts: Record<ResourceName, number>;
}

export interface Company extends CompanyDescription {
  readonly home: Currency;
  /** The first moments of the months that have bills. */
  readonly months: readonly [number, ...number[]];
  ids(name: string): RecordIds;
  dice(question: string): Dice;
  readonly expenseAccounts: IdList;
  readonly payableAccounts: IdList;
  readonly paymentAccounts: IdList;
  readonly classes: IdList;
  readonly departments: IdList;
  readonly locations: IdList;
  readonly taxRates: IdList;
  readonly paymentTerms: IdList;
  readonly subsidiaryIds: IdList;
}

type IdList = readonly [string, ...string[]];
