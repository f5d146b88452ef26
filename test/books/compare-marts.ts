import type { Calculated, Value } from './calculate.ts';
import type { Kind, MartRead } from './read-marts.ts';

export interface Compared {
  rows: number;
  figures: number;
  /** The first differences of each column, in words. Empty if every figure is right. */
  differences: string[];
}

export interface Mart extends MartRead {
  readonly name: string;
  /** `Postgres` or the lake. */
  readonly where: string;
}

/** Compares a mart by rows and keys: every figure must equal the calculator's to the last digit, ratios to 9 digits. */
export function compareMart(compared: Compared, mart: Mart, calculated: Calculated): void {
  const { name, kinds } = mart;
  const title = `${name} (${mart.where})`;
  const notes = new DifferenceLog(compared.differences);
  const onDuplicateKey = (key: string): void => {
    notes.add(`${title}: two rows of one key`, key);
  };
  const wanted = byKey(mart, calculated[name] ?? [], onDuplicateKey);
  const found = byKey(mart, mart.rows, onDuplicateKey);
  for (const [key, row] of found) {
    compared.rows += 1;
    const right = wanted.get(key);
    if (right === undefined) {
      notes.add(`${title}: a row too many`, `${key} ${JSON.stringify(row)}`);
      continue;
    }
    for (const [column, kind] of Object.entries(kinds)) {
      compared.figures += 1;
      if (!(column in right)) notes.add(`${title}.${column} is not calculated`, '');
      else if (!isSame(kind, row[column], right[column]))
        notes.add(
          `${title}.${column}`,
          `is ${show(row[column])} instead of ${show(right[column])} at ${key}`,
        );
    }
    for (const column of Object.keys(right))
      if (!(column in kinds)) notes.add(`${title}.${column} is not there`, '');
  }
  for (const [key, row] of wanted)
    if (!found.has(key)) notes.add(`${title}: a row is missing`, `${key} ${JSON.stringify(row)}`);
}

type Row = Readonly<Record<string, Value>>;

function byKey(
  { kinds, name }: Mart,
  rows: readonly Row[],
  onDuplicateKey: (key: string) => void,
): Map<string, Row> {
  const found = new Map<string, Row>();
  for (const row of rows) {
    const key = (martKeys[name] ?? [])
      .map((column) => show(canonical(kinds[column] ?? 'text', row[column])))
      .join(' / ');
    if (found.has(key)) onDuplicateKey(key);
    found.set(key, row);
  }
  return found;
}

/** Keeps the first differences of each kind, which are enough to see the error. */
class DifferenceLog {
  private readonly counts = new Map<string, number>();

  private readonly differences: string[];

  constructor(differences: string[]) {
    this.differences = differences;
  }

  add(kind: string, what: string): void {
    const count = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, count);
    if (count <= 3) this.differences.push(`${kind} ${what}`);
    else if (count === 4) this.differences.push(`${kind} … and more`);
  }
}

function isSame(kind: Kind, found: Value, wanted: Value): boolean {
  const [one, other] = [canonical(kind, found), canonical(kind, wanted)];
  if (kind !== 'double' || one === null || other === null) return one === other;
  const [a, b] = [Number(one), Number(other)];
  return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

function canonical(kind: Kind, value: Value): string | null {
  if (value === null || value === undefined) return null;
  const text = String(value);
  if (kind === 'number') return canonicalNumber(text);
  if (kind === 'time') return String(Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')));
  return kind === 'date' ? text.slice(0, 10) : text;
}

/** Drops trailing zeros and the sign of zero. */
function canonicalNumber(text: string): string {
  const plain = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return plain === '-0' || plain === '' ? '0' : plain;
}

function show(value: Value): string {
  return value === null || value === undefined ? 'null' : String(value);
}

/** The key of each mart's rows. */
const martKeys: Readonly<Record<string, readonly string[]>> = {
  accounts: ['connection_id', 'account_id'],
  allocations: ['connection_id', 'told_by', 'document_id', 'source_type', 'position'],
  ap_ageing: ['as_of_date', 'connection_id', 'vendor_id', 'currency_code'],
  ap_kpis_monthly: ['connection_id', 'month', 'currency_code'],
  ap_open_items: ['as_of_date', 'connection_id', 'document_type', 'document_id'],
  bill_lines: ['connection_id', 'bill_id', 'position'],
  bills: ['connection_id', 'bill_id'],
  cash_requirements: ['connection_id', 'currency_code', 'due_bucket'],
  connections: ['connection_id'],
  customers: ['connection_id', 'customer_id'],
  data_quality: ['connection_id', 'check_name'],
  dates: ['date'],
  duplicate_bills: ['connection_id', 'bill_id_a', 'document_type_b', 'document_id_b'],
  expense_lines: ['connection_id', 'expense_id', 'position'],
  expenses: ['connection_id', 'expense_id'],
  items: ['connection_id', 'item_id'],
  mrr_movements_monthly: ['connection_id', 'platform_customer_id', 'month', 'currency_code'],
  spend_by_dimension_monthly: ['connection_id', 'dimension', 'dimension_id', 'spend_month', 'currency_code'],
  spend_lines: ['connection_id', 'source_type', 'document_id', 'position'],
  subscription_mrr_monthly: ['connection_id', 'subscription_id', 'position', 'month'],
  sync_health: ['connection_id', 'resource'],
  vendor_credits: ['connection_id', 'vendor_credit_id'],
  vendor_spend_monthly: ['connection_id', 'vendor_id', 'spend_month', 'currency_code'],
  vendors: ['connection_id', 'vendor_id'],
};

export const martNames: readonly string[] = Object.keys(martKeys);
