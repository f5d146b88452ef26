import type { Logger } from 'pino';

/**
 * For what anybody may provoke as often as they like: says it in the log at once, and then at most once a minute, with how often
 * each happened. Returns what counts one.
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

/** Of addresses there may be any number. */
const mostNames = 100;
