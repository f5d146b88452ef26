import type { Column } from './resource.ts';

/** The members of a JSON object that columns are read from: values, and objects whose members are columns too. */
export interface RecordShape {
  readonly values: readonly Column[];
  readonly objects: Readonly<Record<string, RecordShape>>;
}

/** A member that columns are read from is an object, though a column may also keep it whole. */
export function recordShapeOf(columns: readonly Column[]): RecordShape {
  const nested = columns.filter(({ path }) => path.length === 2);
  const roots = new Set(nested.map(({ path: [root] }) => root));
  const innerOf = (root: string): Column[] => nested.filter(({ path }) => path[0] === root).map(unnested);
  return {
    values: columns.filter(({ path: [root] }) => !roots.has(root)),
    objects: Object.fromEntries([...roots].map((root) => [root, recordShapeOf(innerOf(root))])),
  };
}

function unnested(column: Column): Column {
  return { ...column, path: [column.path[1] ?? column.path[0]] };
}

/**
 * Whether a text is no longer than an ID may be. Marts look IDs of other records up by an index; the dashboard offers each currency to be
 * chosen; and each item of a subscription repeats its status.
 */
export function isBounded({ kind, name }: Column): boolean {
  return (kind === 'id' && name !== 'id' && name !== 'platform_id') || kind === 'currency' || kind === 'enum';
}
