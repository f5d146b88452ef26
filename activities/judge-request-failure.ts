import { isDatabaseAway } from '../warehouse/session/is-database-away.ts';
import { noteFailing } from '../warehouse/passes/note-failing.ts';
import type { PassInHand } from '../warehouse/passes/pass.ts';
import type { Dependencies } from './dependencies.ts';
import { GaveUp } from './gave-up.ts';
import { handlingOf } from '../requests/handling.ts';

/**
 * Returns the error of a request, or GaveUp if such errors have continued for longer than DAYBOOK_GIVE_UP_AFTER. If Postgres is away or full,
 * no request has failed: that is waited for without limit, like a service that asks for a pause, unless the pause is `ofOneAlone`. `requests`
 * are counted with failures on the service's side.
 */
export async function judgeRequestFailure(
  { warehouse, policies }: Pick<Dependencies, 'warehouse' | 'policies'>,
  {
    pass,
    requests,
    error,
    ofOneAlone = false,
  }: { pass: PassInHand; requests: number; error: unknown; ofOneAlone?: boolean },
): Promise<unknown> {
  if (!(error instanceof Error) || isDatabaseAway(error)) return error;
  const handling = handlingOf(error);
  if (handling === 'stop' || (handling === 'wait' && !ofOneAlone)) return error;
  const failingMilliseconds = await noteFailing(warehouse, { pass, requests });
  if (failingMilliseconds <= policies.giveUpAfterMilliseconds) return error;
  return new GaveUp(pass.stream, `for ${Math.round(failingMilliseconds / 1000)} s`, error);
}
