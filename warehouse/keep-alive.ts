/**
 * Of a session whose server vanishes without a word (power, network), the kernel learns nothing while it waits for an answer, and asks on its
 * own account after two hours. With a delay, libuv has it ask after that, and then every second: after ten questions without an answer, 20 s
 * in all, the session fails with ETIMEDOUT. A delay of 0, the driver's default, leaves the two hours.
 */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;
