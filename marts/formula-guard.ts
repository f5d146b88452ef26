/**
 * A spreadsheet runs a cell that begins like a formula. In files that people open in one, such a text has an apostrophe before it,
 * and when the file is read again the apostrophe goes.
 */
export function guardedColumn(name: string): string {
  const formula = `left(ltrim(${name}, '''' || ${spaces.map(chr).join(' || ')}), 1) in (${formulaSigns.map(chr).join(', ')})`;
  return `case when ${formula} then '''' || ${name} else ${name} end as ${name}`;
}

/** What a formula begins with: some spreadsheets take signs of full width for those of ASCII, and pass over line ends. */
const formulaSigns = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\n', '\r'] as const;

/** What some pass over before them. */
const spaces = [
  ...' \u000b\u000c\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff',
];

function chr(character: string): string {
  return `chr(${character.charCodeAt(0)})`;
}

/** The text of a CSV file without those apostrophes. */
export function unguarded(csv: string): string {
  return csv.replace(fields, (field) =>
    field.startsWith('"') ? `"${withoutGuard(field.slice(1))}` : withoutGuard(field),
  );
}

const fields = /"(?:[^"]|"")*"|[^",\r\n]+/g;

function withoutGuard(text: string): string {
  return text.startsWith("'") && beginsLikeFormula(behind(text, ["'", ...spaces])) ? text.slice(1) : text;
}

/** Whether a spreadsheet would run the text. */
export function beginsLikeFormula(text: string): boolean {
  const begins = behind(text, spaces);
  return formulaSigns.some((sign) => begins.startsWith(sign));
}

function behind(text: string, passedOver: readonly string[]): string {
  let at = 0;
  while (passedOver.includes(text[at] ?? '')) at += 1;
  return text.slice(at);
}
