import { hasHugeNumber } from './huge-number.ts';
import { beginsWithDay, isTime } from './instant.ts';
import { isObject } from './is-object.ts';
import { mostLines } from './list-check.ts';
import { isTooLong } from './longest-id.ts';
import { recordShapeOf, isBounded, type RecordShape } from './record-shape.ts';
import { columnKinds, type Column, type Resource } from './resource.ts';
import { isWellFormed } from './well-formed.ts';

type Test = (value: unknown) => boolean;

/**
 * Returns a test of whether a record passes the schema in `record-check.ts`, without the reason if not: nearly every record passes, and the schema
 * takes many times as long. `record-fits.test.ts` keeps the two consistent.
 */
export function recordFitsOf(resource: Resource): Test {
  const lists = resource.children.map(
    (child) => [child.from, listFits(objectFits(recordShapeOf(child.columns)))] as const,
  );
  return objectFits(recordShapeOf(resource.columns), {
    ...Object.fromEntries(lists),
    id: (id) => typeof id === 'string' && id !== '' && isWellFormed(id) && !isTooLong(id),
    [resource.version]: (version) => typeof version === 'string' && isTime(version),
  });
}

function objectFits({ values, objects }: RecordShape, required: Readonly<Record<string, Test>> = {}): Test {
  const tests = new Map<string, Test>([
    ...values.map((column) => [column.path[0], orNone(valueFits(column))] as const),
    ...Object.entries(objects).map(([name, shape]) => [name, orNone(objectFits(shape))] as const),
    ...Object.entries(required),
  ]);
  const members = [...tests];
  return (value) => isObject(value) && members.every(([name, fits]) => fits(value[name]));
}

function listFits(line: Test): Test {
  return orNone((value) => Array.isArray(value) && value.length <= mostLines && value.every(line));
}

function orNone(fits: Test): Test {
  return (value) => value === null || value === undefined || fits(value);
}

function valueFits(column: Column): Test {
  switch (columnKinds[column.kind].json) {
    case 'string':
      return isBounded(column)
        ? (value) => typeof value === 'string' && !isTooLong(value)
        : (value) => typeof value === 'string';
    case 'string or list':
      return isIdOrIds;
    case 'decimal string':
      return (value) => typeof value === 'string' && !hasHugeNumber(value);
    case 'number':
      return (value) => typeof value === 'number';
    case 'integer':
      return Number.isInteger;
    case 'date':
      return (value) => typeof value === 'string' && (value === '' || beginsWithDay(value));
    case 'time':
      return (value) => typeof value === 'string' && (value === '' || isTime(value));
    case 'object':
      return isObject;
  }
}

function isIdOrIds(value: unknown): boolean {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.every((id) => typeof id === 'string') && !isTooLong(all.join());
}
