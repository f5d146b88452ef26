import { columnKinds, decimalTextPattern, type Column } from '../../resources/resource.ts';

/**
 * SQL that reads a column out of a record (a jsonb expression), in its Postgres type.
 * `->>` writes a number of jsonb with all its digits, so `::numeric` holds what the API sent.
 */
export function columnExpression(column: Column, record: string): string {
  const { json, emptyIsNull, nullWord } = columnKinds[column.kind];
  let text = textAt(column.path, record);
  if (emptyIsNull) text = `nullif(${text}, '')`;
  if (nullWord) text = `nullif(${text}, 'null')`;
  switch (json) {
    case 'string':
      return text;
    case 'date':
      return `left(${text}, 10)::date`;
    case 'time':
      return `${text}::timestamptz`;
    case 'number':
      return `${text}::numeric`;
    case 'integer':
      // 3.0 is a whole number in JSON, and not the text of one in Postgres.
      return `${text}::numeric::bigint`;
    case 'decimal string':
      return `case when btrim(${text}, ${whitespace}) ~ '${decimalTextPattern}' then btrim(${text}, ${whitespace})::numeric end`;
    case 'object':
      return `nullif(${record} -> '${column.path[0]}', 'null')`;
  }
}

/** What counts as blank around a number, in SQL as in JavaScript's trim. */
const whitespace = String.raw`E' \t\n\r\v\f\u00a0\ufeff'`;

function textAt(path: Column['path'], record: string): string {
  const [first, second] = path;
  return second === undefined ? `(${record} ->> '${first}')` : `(${record} -> '${first}' ->> '${second}')`;
}
