/** The exit codes, on which scripts branch. */
export const exitCodes = { done: 0, failed: 1, usage: 2, partly: 3 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Called by a command to set its exit code; without a call, it is `done`. */
export type SetExitCode = (code: ExitCode) => void;
