import type { Company } from './company.ts';
import { formatAmount } from './currencies.ts';
import type { Dice } from './dice.ts';
import type { DocumentAmounts, LineAmounts } from './line-amounts.ts';
import { optionalId } from './optional-id.ts';
import { pick } from './pick.ts';
import type { RecordIds } from './record-ids.ts';
import { purchaseTexts } from './words.ts';
import type { Vendor } from './vendors.ts';

/** JSON text of the lines of a bill or a bill credit memo (2.1). */
export function createLineRenderer(company: Company, kind: string): (line: LinesInput) => string {
  const context = {
    company,
    chance: company.dice(`${kind}-line-texts`),
    itemIds: company.ids('items'),
    customerIds: company.ids('customers'),
  };
  return (input) => {
    const lines = input.amounts.lines.map((line, position) => renderLine(context, input, line, position));
    if (context.chance(input.index) % 100 === 0) lines.push(textOnlyLine);
    return `[${lines.join(',')}]`;
  };
}

function renderLine(
  context: Context,
  { index, vendor }: LinesInput,
  line: LineAmounts,
  position: number,
): string {
  const { company } = context;
  const { digits } = vendor.currency;
  const number = context.chance(index * 8 + position);
  return (
    `{"account_id":"${pick(company.expenseAccounts, number >>> 3)}",` +
    `"class_id":${optionalId(company.classes, 3, number >>> 2)},"customer_id":${customerJson(context, number)},` +
    `"department_id":${optionalId(company.departments, 2, number >>> 4)},` +
    `"location_id":${optionalId(company.locations, 4, number >>> 6)},` +
    `"tax_rate_id":${line.tax === 0 ? 'null' : `"${pick(company.taxRates, vendor.taxRate)}"`},` +
    `"description":${pick(purchaseTexts, number >>> 10)},` +
    `"discount_amount":${formatAmount(line.discount, digits)},"discount_percentage":${line.discountPercentage},` +
    `"sub_total":${formatAmount(line.subTotal, digits)},"tax_amount":${formatAmount(line.tax, digits)},` +
    `"total_amount":${formatAmount(line.total, digits)},"item":${itemJson(context, line, digits, number)}}`
  );
}

function customerJson({ company, customerIds }: Context, number: number): string {
  if (number % 9 !== 0 || company.counts.customers === 0) return 'null';
  return `"${customerIds.at((number >>> 7) % company.counts.customers)}"`;
}

function itemJson({ company, itemIds }: Context, line: LineAmounts, digits: number, number: number): string {
  if (number % 4 === 0 || company.counts.items === 0) return 'null';
  const id = itemIds.at((number >>> 5) % company.counts.items);
  return `{"id":"${id}","quantity":${formatAmount(line.quarters * 25, 2)},"unit_amount":${formatAmount(line.unitAmount, digits)}}`;
}

/** The last line of some documents has only a description: every other field is null. */
const textOnlyLine =
  '{"account_id":null,"class_id":null,"customer_id":null,"department_id":null,"location_id":null,"tax_rate_id":null,' +
  '"description":"Thank you for your business","discount_amount":null,"discount_percentage":null,"sub_total":null,' +
  '"tax_amount":null,"total_amount":null,"item":null}';

interface LinesInput {
  readonly index: number;
  readonly vendor: Vendor;
  readonly amounts: Pick<DocumentAmounts, 'lines'>;
}

interface Context {
  readonly company: Company;
  readonly chance: Dice;
  readonly itemIds: RecordIds;
  readonly customerIds: RecordIds;
}
