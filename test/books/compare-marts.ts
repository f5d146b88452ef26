import type { MartRow } from '../dbt/marts-of.ts';
import type { Calculated } from './calculate.ts';

export interface MartsCompared {
  rows: number;
  figures: number;
  /** In words, the first of each column. */
  differences: string[];
  /** By connection, how many. */
  readonly byBook: Map<string, number>;
}

export interface Mart {
  readonly name: string;
  readonly rows: readonly MartRow[];
  /** Postgres's name of the type of each column. */
  readonly types: ReadonlyMap<string, string>;
}

/** Row by row and key by key: every figure of a mart is the calculator's, to the digit; ratios within 1e-9. */
export function compareMart(compared: MartsCompared, target: string, mart: Mart, calculated: Calculated): void {
  const keys = keysOf[mart.name];
  if (keys === undefined) throw new Error(`The calculator does not know the mart ${mart.name}.`);
  const where = `${mart.name} (${target})`;
  const wanted = byKey(keys, mart, calculated[mart.name] ?? []);
  const found = byKey(keys, mart, mart.rows);
  const note = new Notes(compared);
  for (const [key, row] of found) {
    compared.rows += 1;
    const right = wanted.get(key);
    if (right === undefined) {
      note.add(row, `${where}: a row too many`, `${key} ${JSON.stringify(row)}`);
      continue;
    }
    for (const [column, type] of mart.types) {
      compared.figures += 1;
      if (!(column in right)) note.add(row, `${where}.${column} is not calculated`, '');
      else if (!isSame(type, row[column], right[column]))
        note.add(row, `${where}.${column}`, `is ${show(row[column])} instead of ${show(right[column])} at ${key}`);
    }
  }
  for (const [key, row] of wanted)
    if (!found.has(key)) note.add(row, `${where}: a row is missing`, `${key} ${JSON.stringify(row)}`);
}

type Row = Readonly<Record<string, unknown>>;

function byKey(keys: readonly string[], { types, name }: Mart, rows: readonly Row[]): Map<string, Row> {
  const found = new Map<string, Row>();
  for (const row of rows) {
    const key = keys.map((column) => show(canonical(types.get(column) ?? '', row[column]))).join(' / ');
    if (found.has(key)) throw new Error(`${name} has two rows of ${key}.`);
    found.set(key, row);
  }
  return found;
}

/** The first differences of each kind are enough to see what is wrong. */
class Notes {
  private readonly counts = new Map<string, number>();

  constructor(private readonly compared: MartsCompared) {}

  add(row: Row, kind: string, what: string): void {
    const { differences, byBook } = this.compared;
    const count = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, count);
    const book = String(row.connection_id);
    byBook.set(book, (byBook.get(book) ?? 0) + 1);
    if (count <= 3) differences.push(`${kind} ${what}`);
    else if (count === 4) differences.push(`${kind} … and more`);
  }
}

function isSame(type: string, found: unknown, wanted: unknown): boolean {
  const [one, other] = [canonical(type, found), canonical(type, wanted)];
  if (type !== 'double precision' || one === null || other === null) return one === other;
  const [a, b] = [Number(one), Number(other)];
  return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
}

function canonical(type: string, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = String(value as string | number | boolean);
  if (type === 'numeric' || type === 'bigint') return canonicalNumber(text);
  if (type === 'timestamp with time zone') return String(Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')));
  if (type === 'date') return text.slice(0, 10);
  return text;
}

/** Without what says nothing: zeros at its end, a sign of zero. */
function canonicalNumber(text: string): string {
  const plain = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return plain === '-0' || plain === '' ? '0' : plain;
}

function show(value: unknown): string {
  return value === null || value === undefined ? 'null' : String(value as string | number);
}

/** What one row of each mart is of. */
export const keysOf: Readonly<Record<string, readonly string[]>> = {
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
