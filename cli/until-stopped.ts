/** Resolves on the first Ctrl-C or SIGTERM, or when the terminal is closed. A second signal exits the process at once. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    let askedAt: number | undefined;
    const onSignal = (): void => {
      const now = performance.now();
      if (askedAt !== undefined && now - askedAt > oneKeyMilliseconds) process.exit(130);
      askedAt ??= now;
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  });
}

/** npm forwards the Ctrl-C that the terminal has already sent to this process, so signals this close count as one. */
const oneKeyMilliseconds = 1_000;
