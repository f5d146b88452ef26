import { canonicalDecimal, isDigits } from './exact-json.ts';
import type { FieldKind, SourceField } from './source-tables.ts';

/** The value of a field in a record. Undefined if its path does not exist there. */
export function valueAt(record: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, step) => (isObject(value) && !isDigits(value) ? value[step] : undefined),
    record,
  );
}

/** The value that the warehouse must hold for a field, in the canonical spelling of `canonicalStored`. Null stays null. */
export function canonicalSource(kind: FieldKind, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (isDigits(value)) return canonicalDecimal(value.digits) ?? null;
  if (kind === 'json') return canonicalJson(value);
  const text = withoutNul(typeof value === 'string' ? value : JSON.stringify(value));
  switch (kind) {
    case 'text':
    case 'number':
      return text;
    case 'id':
      return text === '' ? null : text;
    case 'code':
      return text === '' || text === 'null' ? null : text;
    case 'date':
      return text === '' ? null : text.slice(0, 10);
    case 'time':
      return text === '' ? null : String(parseMicroseconds(text));
    case 'decimal text':
      return canonicalDecimal(text) ?? null;
  }
}

/** The value that Postgres holds, given as Postgres writes it, in the canonical spelling of `canonicalSource`. */
export function canonicalStored(kind: FieldKind, text: string | null, parse: Parse): string | null {
  if (text === null) return null;
  if (kind === 'number' || kind === 'decimal text') return canonicalDecimal(text) ?? text;
  if (kind === 'time') return String(parseMicroseconds(text));
  return kind === 'json' ? canonicalJson(parse(text)) : text;
}

/** The reason why no client could store the field. Undefined if it can be stored. */
export function findProblem(
  { kind, column, path }: SourceField,
  value: unknown,
  required: boolean,
): string | undefined {
  if (value === null || value === undefined) return required ? `${column} is missing` : undefined;
  if (kind === 'number') return isDigits(value) ? undefined : `${path.join('.')} is no number`;
  if (kind === 'json')
    return isObject(value) && !isDigits(value) ? undefined : `${path.join('.')} is no object`;
  if (typeof value !== 'string') return `${path.join('.')} is no text`;
  if (value === '') return required ? `${column} is empty` : undefined;
  if (kind === 'date' && !isDay(value.slice(0, 10))) return `${column} is no day`;
  if (kind === 'time' && !(isDay(value.slice(0, 10)) && parseMicroseconds(value) !== undefined))
    return `${column} is no time`;
  return undefined;
}

/** The canonical spelling of any JSON value: sorted names, canonical decimals. */
export function canonicalJson(value: unknown): string {
  if (isDigits(value)) return canonicalDecimal(value.digits) ?? value.digits;
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (!isObject(value)) return withoutNul(JSON.stringify(value).replaceAll(String.raw`\u0000`, '\uFFFD'));
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join()}}`;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Parse = (text: string) => unknown;

function withoutNul(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}

function isDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Parses an ISO time, or a time as Postgres writes it. */
function parseMicroseconds(text: string): bigint | undefined {
  const [, day, clock, fraction = '', zone = 'Z'] =
    /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}(?::?\d{2})?)?$/.exec(text) ?? [];
  if (day === undefined || clock === undefined) return undefined;
  const offset = zone === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
  const milliseconds = Date.parse(`${day}T${clock}${offset}`);
  if (Number.isNaN(milliseconds)) return undefined;
  return BigInt(milliseconds) * 1000n + BigInt(fraction.padEnd(6, '0').slice(0, 6) || '0');
}
