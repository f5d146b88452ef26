/** What scripts branch on. */
export const exitCodes = { done: 0, failed: 1, usage: 2, partly: 3 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A command says how it ended; without a word it has done all. */
export type SetExitCode = (code: ExitCode) => void;
