import { setTimeout as wait } from 'node:timers/promises';
import { printAside } from './printer.ts';
import { visible } from '../server/frame/visible.ts';

/**
 * Reads and shows progress until `over`: in place on a terminal, otherwise as a line every few seconds. An empty text shows
 * nothing; undefined leaves what is shown.
 */
async function showProgress<Progress>(
  read: () => Promise<Progress>,
  inWords: (progress: Progress, waitedMilliseconds: number) => string | undefined,
  over: AbortSignal,
): Promise<void> {
  const started = performance.now();
  const shown = isShownInPlace() ? await inPlace() : byLines();
  try {
    while (!over.aborted) {
      shown.show(inWords(await read(), performance.now() - started));
      await wait(intervalMilliseconds, undefined, { signal: over }).catch(() => undefined);
    }
  } finally {
    shown.end();
  }
}

/** Shows progress until `ended` settles, and returns its result. */
export async function showUntil<Result, Progress>(
  ended: Promise<Result>,
  read: () => Promise<Progress>,
  inWords: (progress: Progress, waitedMilliseconds: number) => string | undefined,
): Promise<Result> {
  const over = new AbortController();
  const settled = ended.finally(() => {
    over.abort();
  });
  // It may fail while progress is being read. The failure is thrown below, and must not end the process as an unhandled rejection.
  settled.catch(() => undefined);
  await showProgress(read, inWords, over.signal);
  return settled;
}

const intervalMilliseconds = 500;
/** If the output cannot be redrawn, a line is printed at this interval. */
export const lineEveryMilliseconds = 5_000;

/** Progress goes to stderr: stdout is for the result. */
export function isShownInPlace(): boolean {
  return process.stderr.isTTY;
}

interface Shown {
  readonly show: (text: string | undefined) => void;
  readonly end: () => void;
}

async function inPlace(): Promise<Shown> {
  const { createLogUpdate } = await import('log-update');
  const draw = createLogUpdate(process.stderr);
  return {
    show: (text) => {
      if (text !== undefined) draw(visible(text));
    },
    end: () => {
      draw.clear();
    },
  };
}

function byLines(): Shown {
  let said = '';
  let saidAt = -Infinity;
  return {
    show(text) {
      if (text === undefined || text === '' || text === said) return;
      if (performance.now() - saidAt < lineEveryMilliseconds) return;
      printAside(text);
      said = text;
      saidAt = performance.now();
    },
    end: () => undefined,
  };
}
