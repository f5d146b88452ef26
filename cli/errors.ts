/** The command line or the configuration cannot work. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly isUsage = true;
}

/** Nothing is configured and `daybook up` does not run here. */
export class NotRunning extends Error {
  override readonly name = 'NotRunning';

  constructor(home: string, missing: string) {
    super(`Daybook is not running on ${home}: start it with "npx daybook up", or set ${missing}.`);
  }
}
