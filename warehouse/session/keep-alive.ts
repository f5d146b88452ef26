/**
 * If a server vanishes (power, network) while a session waits for its answer, the kernel sends the first keep-alive probe after two hours.
 * With a delay, libuv makes it probe after that delay and then every second: after ten unanswered probes, 20 s in all, the session fails
 * with ETIMEDOUT. With a delay of 0, the driver's default, the two hours remain.
 */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;
