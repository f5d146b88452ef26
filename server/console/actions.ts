import type { Action } from './action.ts';
import { approveDeletions } from './actions/approve-deletions.ts';
import { discardEntries } from './actions/discard-entries.ts';
import { pause } from './actions/pause.ts';
import { reconcileNow } from './actions/reconcile-now.ts';
import { replayWithin } from './actions/replay-entries.ts';
import { resume } from './actions/resume.ts';
import { syncNow } from './actions/sync-now.ts';

/** What there is to do: each a form that is posted. */
export const actions: Readonly<Record<string, Action>> = {
  '/connections/:connection/sync': syncNow,
  '/connections/:connection/reconcile': reconcileNow,
  '/connections/:connection/approve-deletions': approveDeletions,
  '/connections/:connection/pause': pause,
  '/connections/:connection/resume': resume,
  '/quarantine/discard': discardEntries,
};

/** Those for which the finance API is asked, which answers when it likes: they hold up one another, and no action of the others. */
export const actionsOfService: Readonly<Record<string, Action>> = {
  '/quarantine/replay': replayWithin(30_000),
};
