/** Words for a cell of a Markdown table, without the ids, which are others each time. */
export function inTable(words: string): string {
  return words.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '…').replaceAll('|', '\\|');
}
