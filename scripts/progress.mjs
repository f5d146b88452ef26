/**
 * Shows the progress of parallel steps: on a terminal in one line that is rewritten every second, elsewhere in a
 * line every 20 s.
 *
 * @param {import('node:tty').WriteStream} out
 */
export function createProgress(out) {
  const running = new Map();
  const isTerminal = out.isTTY === true;
  let ticking;

  return { step };

  /**
   * Announces, runs and times one step; `work` may report its progress to `report`.
   *
   * @param {string} title
   * @param {(report: (progress: string) => void) => Promise<unknown>} work
   */
  async function step(title, work) {
    const started = Date.now();
    running.set(title, { started, detail: '' });
    ticking ??= setInterval(show, isTerminal ? 1000 : 20_000);
    if (!isTerminal) print(`${title} …`);
    try {
      await work((detail) => running.set(title, { started, detail }));
      print(`${title}: done in ${seconds(started)}`);
    } finally {
      running.delete(title);
      if (running.size === 0) stop();
    }
  }

  function show() {
    const line = [...running]
      .map(([title, { started, detail }]) => `${title}${detail && `, ${detail}`} (${seconds(started)})`)
      .join(' · ');
    out.write(isTerminal ? `\r\x1b[K${line.slice(0, out.columns - 1)}` : `${line}\n`);
  }

  function print(line) {
    out.write(`${isTerminal ? '\r\x1b[K' : ''}${line}\n`);
  }

  function stop() {
    clearInterval(ticking);
    ticking = undefined;
    if (isTerminal) out.write('\r\x1b[K');
  }
}

function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}
