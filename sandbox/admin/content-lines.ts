import type { Collection } from '../world/collection.ts';

/** Returns the current content of a collection, one record's JSON text per line, in chunks of 500 lines. */
export function* contentLines(collection: Collection, options: ContentOptions): Generator<string> {
  let lines: string[] = [];
  let count = 0;
  for (const record of collection.walk({ field: 'last_synced_at', descending: false, from: null })) {
    if (count >= options.limit) break;
    count += 1;
    // A record may span several lines; in valid JSON, a line break can only be white space between tokens.
    const text = collection.text(record).replaceAll(/[\r\n]+/g, ' ');
    lines.push(options.expanded ? collection.expanded(record, text) : text);
    if (lines.length === 500) {
      yield `${lines.join('\n')}\n`;
      lines = [];
    }
  }
  if (lines.length > 0) yield `${lines.join('\n')}\n`;
}

interface ContentOptions {
  readonly expanded: boolean;
  readonly limit: number;
}
