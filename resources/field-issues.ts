import { columnKinds, decimalTextPattern, type Column, type Resource } from './resource.ts';

/** A decimal string that is not a number: the record still lands, with null in this field. */
export interface FieldIssue {
  /** Its path in the record: `bill_item.unit_price`. */
  readonly field: string;
  readonly value: string;
}

/** Expects a checked record. Only top-level columns of the API are decimal strings. */
export function findFieldIssues(resource: Resource, record: Record<string, unknown>): FieldIssue[] {
  return resource.columns
    .filter(({ kind }) => columnKinds[kind].json === 'decimal string')
    .map((column) => ({ field: column.path.join('.'), value: valueAt(record, column.path) }))
    .filter((found): found is FieldIssue => typeof found.value === 'string' && isIssue(found.value));
}

const decimalText = new RegExp(decimalTextPattern);

function isIssue(value: string): boolean {
  return value !== '' && !decimalText.test(value.trim());
}

function valueAt(record: unknown, path: Column['path'] | readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : undefined,
    record,
  );
}
