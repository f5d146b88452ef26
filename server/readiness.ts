import type { Logger } from 'pino';
import { reasonOf } from '../errors/reason-of.ts';
import { countByTheMinute } from './count-by-the-minute.ts';
import { oneAtATime } from './one-at-a-time.ts';

/** Checks by name; a check rejects if its part does not work. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<unknown>>>;

export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, CheckResult>>;
}

/** The reason is only logged: anybody may ask for readiness, and drivers' messages name hosts and users. */
export type CheckResult = 'ok' | 'failed' | 'no answer';

/** Runs all checks in parallel, each with a timeout of two seconds. */
export function createReadiness(checks: ReadinessChecks, logger: Logger): () => Promise<Readiness> {
  const countFailed = countByTheMinute(logger, 'Readiness checks failed.');
  const runners = Object.entries(checks).map(([name, check]) => ({
    name,
    // Without sharing a running check, a check that hangs would add one more waiting query with each probe.
    run: oneAtATime(() => runCheck(name, check, countFailed)),
  }));
  return async () => {
    const results = await Promise.all(
      runners.map(async ({ name, run }) => [name, await withinTwoSeconds(run())] as const),
    );
    return {
      ready: results.every(([, result]) => result === 'ok'),
      checks: Object.fromEntries(results),
    };
  };
}

async function runCheck(
  name: string,
  check: () => Promise<unknown>,
  countFailed: (what: string) => void,
): Promise<CheckResult> {
  try {
    await check();
    return 'ok';
  } catch (error) {
    const reason = reasonOf(error);
    countFailed(`${name}: ${reason}`);
    return 'failed';
  }
}

async function withinTwoSeconds(result: Promise<CheckResult>): Promise<CheckResult> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<CheckResult>((resolve) => {
    timer = setTimeout(resolve, 2000, 'no answer');
  });
  try {
    return await Promise.race([result, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
