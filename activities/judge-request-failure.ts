import { isDatabaseAway } from '../warehouse/session/is-database-away.ts';
import { noteFailing } from '../warehouse/passes/note-failing.ts';
import type { PassInHand } from '../warehouse/passes/pass.ts';
import type { Dependencies } from './dependencies.ts';
import { GaveUp } from './gave-up.ts';
import { handlingOf } from '../requests/handling.ts';

/**
 * The error of a request, or GaveUp when such have kept coming for longer than DAYBOOK_GIVE_UP_AFTER. No request failed when
 * Postgres is away or full: that is waited for, however long it takes. So is a service that asks for a pause, unless it does so
 * `ofOneAlone`. `requests` are counted with what failed for the service's part.
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
