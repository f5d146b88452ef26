/** Text for a cell of a Markdown table. Ids are left out, because they differ from run to run. */
export function formatTableCell(words: string): string {
  return words.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '…').replaceAll('|', '\\|');
}
