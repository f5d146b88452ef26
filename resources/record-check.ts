import * as z from 'zod';
import { beginsWithDay, isTime } from './instant.ts';
import { listCheck, maxReportedIssues } from './list-check.ts';
import { hasHugeNumber, hugeNumber } from './huge-number.ts';
import { isTooLong, longestId } from './longest-id.ts';
import { recordFitsOf } from './record-fits.ts';
import { recordShapeOf, isBounded, type RecordShape } from './record-shape.ts';
import { columnKinds, type Column, type Resource } from './resource.ts';
import { isWellFormed } from './well-formed.ts';

/** Returns why a record cannot land, in words for people; undefined if it can. */
export type RecordCheck = (record: unknown) => string | undefined;

const checks = new Map<string, RecordCheck>();

/**
 * Returns the check of a resource's records: JSON types, required `id` and version, dates that exist, ids that fit an index. Everything else is
 * tolerated: unknown fields, new enum values, and nulls where the API document promises none.
 */
export function recordCheckOf(resource: Resource): RecordCheck {
  let check = checks.get(resource.name);
  if (check === undefined) {
    check = buildCheck(resource);
    checks.set(resource.name, check);
  }
  return check;
}

function buildCheck(resource: Resource): RecordCheck {
  const fits = recordFitsOf(resource);
  const schema = recordSchemaOf(resource);
  return (record) => {
    if (fits(record)) return undefined;
    const result = schema.safeParse(record);
    return result.success
      ? undefined
      : result.error.issues.slice(0, maxReportedIssues).map(inWords).join('; ');
  };
}

/** The schema of a record, with a message for each violation. */
export function recordSchemaOf(resource: Resource): z.ZodType {
  const lists = resource.children.map(
    (child) => [child.from, listCheck(objectSchema(recordShapeOf(child.columns)), isNot('a list'))] as const,
  );
  return objectSchema(recordShapeOf(resource.columns), {
    ...Object.fromEntries(lists),
    id: z
      .string(isNot('a text'))
      .min(1, 'is empty')
      .refine(isWellFormed, notWellFormed)
      .refine((id) => !isTooLong(id), tooLong),
    [resource.version]: z.string(isNot('a time')).refine(isTime, notPossible),
  });
}

function objectSchema(
  { values, objects }: RecordShape,
  required: Readonly<Record<string, z.ZodType>> = {},
): z.ZodType {
  return z.object(
    {
      ...Object.fromEntries(values.map((column) => [column.path[0], valueSchema(column).nullish()])),
      ...Object.fromEntries(
        Object.entries(objects).map(([name, shape]) => [name, objectSchema(shape).nullish()]),
      ),
      ...required,
    },
    isNot('an object'),
  );
}

function valueSchema(column: Column): z.ZodType {
  switch (columnKinds[column.kind].json) {
    case 'string':
      return isBounded(column)
        ? z.string(isNot('a text')).refine((id) => !isTooLong(id), tooLong)
        : z.string(isNot('a text'));
    case 'string or list':
      return z
        .custom<string | string[]>((value) => isTexts(value), isNot('a text or a list of texts'))
        .refine((value) => !isTooLong([value].flat().join()), tooLong);
    case 'decimal string':
      // Its exponent has three digits, and a record has two such columns: together they are never much longer than their texts.
      return z.string(isNot('a text')).refine((text) => !hasHugeNumber(text), { error: hugeNumber });
    case 'number':
      // A number beyond the range of a double parses as Infinity here; Postgres reads its digits from the text.
      return z.custom((value) => typeof value === 'number', isNot('a number'));
    case 'integer':
      return z.custom((value) => Number.isInteger(value), isNot('a whole number'));
    case 'date':
      return z.string(isNot('a date')).refine((value) => value === '' || beginsWithDay(value), notPossible);
    case 'time':
      return z.string(isNot('a time')).refine((value) => value === '' || isTime(value), notPossible);
    case 'object':
      return z.object({}, isNot('an object'));
  }
}

function isTexts(value: unknown): boolean {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.every((text) => typeof text === 'string');
}

const notWellFormed = { error: 'is not well-formed text: it has half of a surrogate pair' };

const tooLong = { error: `is longer than ${longestId} bytes, which no index surely holds` };

const notPossible = { error: 'is not a possible date' };

function isNot(what: string): { error: (issue: { input?: unknown }) => string } {
  return {
    error: ({ input }) => (input === undefined ? 'is missing' : `is ${describeJsonType(input)}, not ${what}`),
  };
}

function describeJsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return (
    { string: 'a text', number: 'a number', boolean: 'a boolean' }[typeof value as string] ?? 'an object'
  );
}

function inWords(issue: z.core.$ZodIssue): string {
  const where = issue.path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('');
  return `${where.replace(/^\./, '') || 'the record'} ${issue.message}`;
}
