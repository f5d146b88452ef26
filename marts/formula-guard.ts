/**
 * A spreadsheet runs a cell that begins like a formula. In files that people open in one, such a text has an apostrophe before it,
 * and when the file is read again the apostrophe goes.
 */
export function guardedColumn(name: string): string {
  const formula = `left(ltrim(${name}, ''''), 1) in (${signs})`;
  return `case when ${formula} then '''' || ${name} else ${name} end as ${name}`;
}

/** What a formula begins with: some spreadsheets take signs of full width for those of ASCII, and pass over line ends. */
const formulaSigns = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\n', '\r'] as const;

const signs = formulaSigns.map((sign) => `chr(${sign.charCodeAt(0)})`).join(', ');

/** The text of a CSV file without those apostrophes. */
export function unguarded(csv: string): string {
  return csv.replace(fields, (field) =>
    field.startsWith('"') ? `"${withoutGuard(field.slice(1))}` : withoutGuard(field),
  );
}

const fields = /"(?:[^"]|"")*"|[^",\r\n]+/g;

function withoutGuard(text: string): string {
  const begins = text.replace(/^'+/, '');
  return begins !== text && beginsLikeFormula(begins) ? text.slice(1) : text;
}

/** Whether a spreadsheet would run the text. */
export function beginsLikeFormula(text: string): boolean {
  return formulaSigns.some((sign) => text.startsWith(sign));
}
