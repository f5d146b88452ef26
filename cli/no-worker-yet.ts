/** The time after which a run that has not begun is reported. */
export const noWorkerAfterMilliseconds = 10_000;

export function noWorkerYet(what: 'run' | 'export'): string {
  return `No worker has taken the ${what} yet: is one running? ("daybook up" or "daybook worker")`;
}
