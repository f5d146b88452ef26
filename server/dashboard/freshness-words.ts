import type { Mark } from './view.ts';

/** Returns the freshness status of the marts in words for people. */
export function freshnessWords(status: string): Mark {
  return marks[status] ?? { words: status, tone: 'quiet' };
}

const marks: Readonly<Record<string, Mark>> = {
  fresh: { words: 'fresh', tone: 'good' },
  stale: { words: 'stale', tone: 'bad' },
  stalled: { words: 'stalled', tone: 'bad' },
  never_complete: { words: 'not complete yet', tone: 'warn' },
  unsupported: { words: 'not offered', tone: 'quiet' },
};
