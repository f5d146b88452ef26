/**
 * A spreadsheet runs a cell that begins like a formula. In files that people open in one, such a text has an apostrophe before it,
 * and when the file is read again the apostrophe goes.
 */
export function guardedColumn(name: string): string {
  const formula = `left(ltrim(${name}, ''''), 1) in (${signs})`;
  return `case when ${formula} then '''' || ${name} else ${name} end as ${name}`;
}

/** Some spreadsheets take signs of full width for those of ASCII, and pass over line ends. */
const signs = `'=', '+', '-', '@', '＝', '＋', '－', '＠', chr(9), chr(10), chr(13)`;

/** The text of a CSV file without those apostrophes. */
export function unguarded(csv: string): string {
  return csv.replace(fields, (field) =>
    field.startsWith('"') ? `"${withoutGuard(field.slice(1))}` : withoutGuard(field),
  );
}

const fields = /"(?:[^"]|"")*"|[^",\r\n]+/g;

function withoutGuard(text: string): string {
  return /^'+[=+\-@＝＋－＠\t\n\r]/.test(text) ? text.slice(1) : text;
}
