/**
 * A spreadsheet runs a cell that begins like a formula. In files for spreadsheets, such a text gets a leading apostrophe, which is removed when
 * the file is read again.
 */
export function guardedColumn(name: string): string {
  const formula = `left(ltrim(${name}, '''' || ${spaces.map(chr).join(' || ')}), 1) in (${formulaSigns.map(chr).join(', ')})`;
  return `case when ${formula} then '''' || ${name} else ${name} end as ${name}`;
}

/** Signs that begin a formula: some spreadsheets treat full-width signs like those of ASCII, and skip line ends. */
const formulaSigns = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\n', '\r'] as const;

/** White space that some spreadsheets skip before a formula. */
const spaces = [
  0x20, 0x0b, 0x0c, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008,
  0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff,
].map((code) => String.fromCharCode(code));

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
