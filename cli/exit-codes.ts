/** What scripts branch on. */
export const exitCodes = { done: 0, failed: 1, usage: 2, partly: 3 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
