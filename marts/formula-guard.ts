/**
 * A spreadsheet runs a cell that begins like a formula. In files that people open in one, such a text has an apostrophe before it,
 * and when the file is read again the apostrophe goes.
 */
export function guardedColumn(name: string): string {
  const formula = `left(ltrim(${name}, ''''), 1) in ('=', '+', '-', '@', chr(9), chr(13))`;
  return `case when ${formula} then '''' || ${name} else ${name} end as ${name}`;
}

/** The text of a CSV file without those apostrophes. */
export function unguarded(csv: string): string {
  return csv.replace(fields, (field) =>
    field.startsWith('"') ? `"${withoutGuard(field.slice(1))}` : withoutGuard(field),
  );
}

const fields = /"(?:[^"]|"")*"|[^",\r\n]+/g;

function withoutGuard(text: string): string {
  return /^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text;
}
