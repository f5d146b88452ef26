import type { Logger } from 'pino';

/**
 * Logs an event that anybody can provoke: the first one at once, then at most one line a minute with the count of each name.
 * Returns the function that counts one event.
 */
export function countByTheMinute(logger: Pick<Logger, 'warn'>, message: string): (what: string) => void {
  let counts = new Map<string, number>();
  let said = false;
  return (what) => {
    const name = counts.has(what) || counts.size < mostNames ? what : 'others';
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (!said) say();
  };

  function say(): void {
    said = counts.size > 0;
    if (!said) return;
    logger.warn({ counts: Object.fromEntries(counts) }, message);
    counts = new Map();
    setTimeout(say, 60_000).unref();
  }
}

/** A limit, because the names may be addresses, of which there can be any number. */
const mostNames = 100;
