import { isDatabaseAway } from '../warehouse/session/is-database-away.ts';
import { noteFailing } from '../warehouse/passes/note-failing.ts';
import type { PassInHand } from '../warehouse/passes/pass.ts';
import type { Dependencies } from './dependencies.ts';
import { GaveUp } from './gave-up.ts';
import { handlingOf } from '../requests/handling.ts';

/**
 * Returns the error of a request of a pass, or GaveUp if its requests have failed for longer than DAYBOOK_GIVE_UP_AFTER: see `judgeFailing`.
 * `requests` are counted with failures on the service's side.
 */
export async function judgeRequestFailure(
  { warehouse, policies }: Pick<Dependencies, 'warehouse' | 'policies'>,
  input: { pass: PassInHand; requests: number; error: unknown; ofOneAlone?: boolean },
): Promise<unknown> {
  const { pass, requests } = input;
  return judgeFailing(policies, {
    ...input,
    what: pass.stream,
    failingMilliseconds: () => noteFailing(warehouse, { pass, requests }),
  });
}

/**
 * Returns the error of a request, or GaveUp if such errors have continued for longer than DAYBOOK_GIVE_UP_AFTER. If Postgres is away or full,
 * no request has failed: that is waited for without limit, like a service that asks for a pause, unless the pause is `ofOneAlone`. Only for a
 * failure that counts, `failingMilliseconds` is asked.
 */
export async function judgeFailing(
  { giveUpAfterMilliseconds }: Dependencies['policies'],
  input: {
    /** What could not be read. */
    what: string;
    error: unknown;
    ofOneAlone?: boolean;
    failingMilliseconds: () => Promise<number>;
  },
): Promise<unknown> {
  const { what, error, ofOneAlone = false } = input;
  if (!(error instanceof Error) || isDatabaseAway(error)) return error;
  const handling = handlingOf(error);
  if (handling === 'stop' || (handling === 'wait' && !ofOneAlone)) return error;
  const failingMilliseconds = await input.failingMilliseconds();
  if (failingMilliseconds <= giveUpAfterMilliseconds) return error;
  return new GaveUp(what, `for ${Math.round(failingMilliseconds / 1000)} s`, error);
}
