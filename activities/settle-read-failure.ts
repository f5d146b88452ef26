import { CredentialsRefused, isAnswer, NotSupported, RequestRefused } from '../source/errors.ts';
import { isReplaced } from '../warehouse/connections/is-replaced.ts';
import { lookbackOf } from '../warehouse/passes/lookback-of.ts';
import { countRequests } from '../warehouse/passes/note-failing.ts';
import { noteMissing, noteNotMissing } from '../warehouse/passes/note-missing.ts';
import type { Listed, PassInHand } from '../warehouse/passes/pass.ts';
import { restartPass } from '../warehouse/passes/restart-pass.ts';
import { handlingOf, isRestart } from '../requests/handling.ts';
import { waitOf } from '../requests/wait.ts';
import { maximumRestarts } from './service-clock.ts';
import type { Dependencies } from './dependencies.ts';
import { GaveUp } from './gave-up.ts';
import { judgeRequestFailure } from './judge-request-failure.ts';
import { ListMissing } from './list-missing.ts';
import type { ChunkOutcome } from './read-chunk.ts';

/** Handles a failure by its class. Throws errors that Temporal is to retry. */
export async function settleReadFailure(
  { warehouse, policies }: Dependencies,
  failed: { pass: PassInHand; resource: Listed; requests: number; error: unknown; othersAnswer: boolean },
): Promise<ChunkOutcome> {
  const { pass, resource, requests, othersAnswer } = failed;
  const lookbackMilliseconds = lookbackOf(resource, policies.lookbackMilliseconds);
  if (failed.error instanceof NotSupported) {
    const absence = await noteMissing(warehouse, { pass, requests });
    if (absence === 'unsupported') return { state: 'unsupported' };
  } else if (isAnswer(failed.error)) await noteNotMissing(warehouse, pass);
  const error = failed.error instanceof NotSupported ? new ListMissing(failed.error) : failed.error;
  // Somebody has replaced the token meanwhile: the next chunk reads with the new one.
  if (error instanceof CredentialsRefused && (await isReplaced(warehouse, pass))) {
    await countRequests(warehouse, { pass, requests });
    return { state: 'more' };
  }
  if (isRestart(error)) {
    const why = 'cursor refused';
    const restarts = await restartPass(warehouse, { pass, resource, lookbackMilliseconds, why });
    await countRequests(warehouse, { pass, requests });
    if (restarts > maximumRestarts) throw new GaveUp(pass.stream, `for the ${restarts}th time`, error);
    return { state: 'more' };
  }
  const wait = waitOf(error);
  const ofOneAlone = othersAnswer && isAnswer(error);
  if (wait !== undefined && !ofOneAlone) {
    await countRequests(warehouse, { pass, requests });
    return { state: 'wait', wait };
  }
  if (handlingOf(error) === 'stop') await countRequests(warehouse, { pass, requests });
  const failure = await judgeRequestFailure({ warehouse, policies }, { pass, requests, error, ofOneAlone });
  if (wait !== undefined && failure === error) return { state: 'wait', wait: { ...wait, ofOneAlone } };
  // The next run must not begin with the cursor that this run gave up on: it may be invalid.
  if (failure instanceof GaveUp || failure instanceof RequestRefused)
    await restartPass(warehouse, { pass, resource, lookbackMilliseconds, why: 'given up' });
  throw failure;
}
