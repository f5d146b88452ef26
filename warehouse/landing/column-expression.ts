import { columnKinds, decimalTextPattern, type Column } from '../../resources/resource.ts';

/**
 * Returns SQL that reads a column of a record (a jsonb expression), in its Postgres type. `->>` writes a number of jsonb with all its digits, so
 * `::numeric` holds what the API sent.
 */
export function columnExpression(column: Column, record: string): string {
  const { json, emptyIsNull, nullWord } = columnKinds[column.kind];
  let text = textAt(column.path, record);
  if (emptyIsNull) text = `nullif(${text}, '')`;
  if (nullWord) text = `nullif(${text}, 'null')`;
  switch (json) {
    case 'string':
    case 'string or list':
      // A list as its JSON text.
      return text;
    case 'date':
      return `left(${text}, 10)::date`;
    case 'time':
      return `${text}::timestamptz`;
    case 'number':
      return `${text}::numeric`;
    case 'integer':
      // 3.0 is a whole number in JSON, but its text is not an integer in Postgres.
      return `${text}::numeric::bigint`;
    case 'decimal string':
      return `case when btrim(${text}, ${blanks}) ~ '${decimalTextPattern}' then btrim(${text}, ${blanks})::numeric end`;
    case 'object':
      return `nullif(${record} -> '${column.path[0]}', 'null')`;
  }
}

/** The characters that JavaScript's `trim` removes, written so that Postgres reads them the same in every locale. */
const blanks = String.raw`E'\u0009\u000a\u000b\u000c\u000d\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2004'
  '\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'`;

function textAt(path: Column['path'], record: string): string {
  const [first, second] = path;
  return second === undefined ? `(${record} ->> '${first}')` : `(${record} -> '${first}' ->> '${second}')`;
}
