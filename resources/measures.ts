import type { Column, Resource } from './resource.ts';

/** An amount that is summed to prove that two sets of records are equal, of a record or of its lists. */
export interface Measure {
  /** `total_amount`; for a list, `bill_lines.total_amount`. */
  readonly name: string;
  readonly column: Column;
  /** The list that holds the amount; null for the record itself. */
  readonly table: string | null;
}

export function measuresOf(resource: Resource): readonly Measure[] {
  return [
    ...amountColumns(resource.columns).map((column) => ({ name: column.name, column, table: null })),
    ...resource.children.flatMap(({ table, columns }) =>
      amountColumns(columns).map((column) => ({ name: `${table}.${column.name}`, column, table })),
    ),
  ];
}

/** The currency of every amount of a record; resources without amounts have none. */
export function currencyColumnOf(resource: Resource): Column | undefined {
  return resource.columns.find(({ kind }) => kind === 'currency');
}

function amountColumns(columns: readonly Column[]): Column[] {
  return columns.filter(({ kind }) => kind === 'amount');
}
