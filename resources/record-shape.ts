import type { Column } from './resource.ts';

/** The members of a JSON object from which columns are read: values, and objects whose members are columns too. */
export interface RecordShape {
  readonly values: readonly Column[];
  readonly objects: Readonly<Record<string, RecordShape>>;
}

/** A member that contains columns is an object, even if another column keeps it whole. */
export function recordShapeOf(columns: readonly Column[]): RecordShape {
  const nested = columns.filter(({ path }) => path.length === 2);
  const roots = new Set(nested.map(({ path: [root] }) => root));
  const columnsUnder = (root: string): Column[] =>
    nested.filter(({ path }) => path[0] === root).map(unnested);
  return {
    values: columns.filter(({ path: [root] }) => !roots.has(root)),
    objects: Object.fromEntries([...roots].map((root) => [root, recordShapeOf(columnsUnder(root))])),
  };
}

function unnested(column: Column): Column {
  return { ...column, path: [column.path[1] ?? column.path[0]] };
}

/**
 * Whether a text is limited to the length of an ID. Marts look up IDs of other records by an index; the dashboard offers each currency as a
 * choice; and each item of a subscription repeats its status.
 */
export function isBounded({ kind, name }: Column): boolean {
  return (kind === 'id' && name !== 'id' && name !== 'platform_id') || kind === 'currency' || kind === 'enum';
}
