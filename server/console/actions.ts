import type { Action } from './action.ts';
import { approveDeletions } from './actions/approve-deletions.ts';
import { discardEntries } from './actions/discard-entries.ts';
import { pause } from './actions/pause.ts';
import { reconcileNow } from './actions/reconcile-now.ts';
import { replayWithin } from './actions/replay-entries.ts';
import { resume } from './actions/resume.ts';
import { syncNow } from './actions/sync-now.ts';

/** The actions of the console; each is a form that is posted. */
export const actions: Readonly<Record<string, Action>> = {
  '/connections/:connection/sync': syncNow,
  '/connections/:connection/reconcile': reconcileNow,
  '/connections/:connection/approve-deletions': approveDeletions,
  '/connections/:connection/pause': pause,
  '/connections/:connection/resume': resume,
  '/quarantine/discard': discardEntries,
};

/** Actions that call the finance API, which may be slow. They wait for one another, but never delay the other actions. */
export const actionsOfService: Readonly<Record<string, Action>> = {
  '/quarantine/replay': replayWithin(30_000),
};
