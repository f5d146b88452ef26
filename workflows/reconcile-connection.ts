import { continueAsNew, isCancellation, patched } from '@temporalio/workflow';
import type { StreamOutcome } from '../activities/finish-run.ts';
import type { DeletionQuestion } from '../activities/plan-reconcile.ts';
import type { ReconciledResource } from '../activities/settle-resource.ts';
import { takeQuestion } from './deletion-question.ts';
import { failureOf } from './failure-of.ts';
import { bookkeeping, comparing } from './proxies.ts';
import { trackProgress, type Progress } from './progress.ts';
import { incomplete } from './incomplete.ts';
import { createReader, type Run, type StreamReader } from './read-streams.ts';
import { requireInput } from './require-input.ts';
import { continuationOf, currentRunId, runToEnd, type RunResult } from './run-to-end.ts';

/** One JSON object, so that "Start Workflow Like This One" in the Web UI repeats it. */
export interface ReconcileConnectionInput {
  connection: string;
  /** Absent: all six. */
  resources?: string[];
  /** Who or what asked; shown in the run's row. */
  reason?: string;
  /** The deletions that a person was shown and approved; they are done first. If other ones wait, the run does nothing at all. */
  approved?: DeletionQuestion | null;
  /** An approval of 0.5.0, which does not list the shown deletions: nothing is deleted for it. */
  approveDeletes?: boolean;
  /** Set by continue-as-new only. */
  continues?: { runId: string; asked?: DeletionQuestion; approved?: string[] };
}

/**
 * Lists every record of a connection, compares, repairs, and proves that source and warehouse are equal. Deletions that need an approval wait in
 * a workflow of their own, where a signal approves them.
 */
export async function reconcileConnection(input: ReconcileConnectionInput): Promise<RunResult> {
  requireInput(input);
  const { connection, resources = [], reason = 'Temporal' } = input;
  const runId = currentRunId(input);
  const before = continuationOf(input);
  const run: Run = { runId, connection, reason, kind: 'reconcile' };
  const plan = await bookkeeping.planReconcile({ runId, connection, reason, resources });
  const streams = plan.resources.flatMap((one) => one.streams);
  const progress = trackProgress({ connection, kind: 'reconcile', searchable: plan.searchable, streams });
  const asked = before?.asked ?? plan.question ?? {};
  const named = [...(before?.approved ?? []), ...Object.keys(input.approved ?? {})];
  const question = await takeQuestion({ connection, runId, asked });
  const reader = createReader(run, progress);
  const refused = { approval: false };
  let result: RunResult | 'unfinished';
  try {
    const work = async () => {
      const refusal = await deleteApproved(input, { runId, asked, stream: streams[0] ?? '' });
      if (refusal !== undefined) {
        refused.approval = true;
        return { outcomes: [refusal], unfinished: false };
      }
      // They are deleted, even if the list cannot be read now.
      for (const resource of named) question.settled(resource, 0);
      const results = await Promise.all(
        plan.resources.map((one) =>
          reconcileResource(run, one, {
            reader,
            progress,
            settled({ waiting }) {
              question.settled(one.resource, waiting);
            },
          }),
        ),
      );
      const outcomes = results.filter((outcome) => outcome !== 'unfinished').flat();
      return { outcomes, unfinished: results.includes('unfinished') };
    };
    result = await runToEnd(run, progress, work, { goesOnWith: before?.runId });
  } catch (error) {
    // A failure of one resource is no reason to leave out the question of another.
    const open = question.hasChanged() || refused.approval;
    if (!isCancellation(error) && open && patched('asks-after-failure')) await question.ask();
    throw error;
  }
  if (result === 'unfinished') {
    return continueAsNew<typeof reconcileConnection>({
      ...input,
      approved: {},
      approveDeletes: false,
      continues: { runId, asked, approved: named },
    });
  }
  if (question.hasChanged()) await question.ask();
  return result;
}

/** Returns why nothing was deleted, if the waiting deletions are not the approved ones. */
async function deleteApproved(
  { connection, resources = [], approveDeletes = false, ...input }: ReconcileConnectionInput,
  { runId, asked, stream }: { runId: string; asked: DeletionQuestion; stream: string },
): Promise<StreamOutcome | undefined> {
  const approved = input.approved ?? {};
  const named = Object.keys(approved);
  try {
    if (named.length > 0) {
      const about = { runId, connection, resources: named };
      await comparing.deleteNamed({ ...about, approved: withRuns(approved, asked) });
    } else if (approveDeletes) {
      await comparing.deleteApproved({ runId, connection, resources });
    }
    return undefined;
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { type, message } = failureOf(error);
    return { stream, state: 'failed', failureType: type, failure: message };
  }
}

/** A question of 0.5.0 had counts, but no reconcile that found them: takes the one that found the same count. */
function withRuns(approved: DeletionQuestion, asked: DeletionQuestion): DeletionQuestion {
  return Object.fromEntries(
    Object.entries(approved).map(([resource, shown]) => {
      const now = asked[resource];
      return [resource, shown.run === undefined && shown.records === now?.records ? now : shown];
    }),
  );
}

async function reconcileResource(
  run: Run,
  { resource, streams }: { resource: string; streams: readonly string[] },
  parts: { reader: StreamReader; progress: Progress; settled: (settled: ReconciledResource) => void },
): Promise<StreamOutcome[] | 'unfinished'> {
  const { reader, progress, settled } = parts;
  const [first = resource] = streams;
  const of = { runId: run.runId, connection: run.connection, resource };
  for (;;) {
    const listed = await list(reader, streams);
    if (listed === 'unfinished') return listed;
    const gap = incomplete(listed);
    if (gap !== undefined) return gap;
    try {
      const { absent, confirmBy, toFetch } = await comparing.findAbsent.executeWithOptions(
        { summary: `${resource}: compare` },
        [of],
      );
      if (absent > 0) progress.note(first, `${absent} not listed: looking for them`);
      // Further records to fetch are fetched together with the absent ones.
      const fetched = absent > 0 && confirmBy === 'fetch';
      const asked = fetched ? await confirmByFetch(reader, first, of) : 'confirmed';
      if (asked === 'unfinished') return asked;
      const unfetchable = asked === 'unfetchable';
      const twice = absent > 0 && (confirmBy === 'listing' || unfetchable);
      if (twice) {
        await comparing.listAgain(of);
        const again = await list(reader, streams);
        if (again === 'unfinished') return again;
        const second = incomplete(again);
        if (second !== undefined) return second;
        await comparing.confirmBySecondListing({ ...of, unfetchable });
      }
      if ((toFetch ?? 0) > 0 && !fetched) {
        const confirmed = await confirmByFetch(reader, first, of);
        if (confirmed === 'unfinished') return confirmed;
        if (twice && confirmed === 'unfetchable')
          await comparing.confirmBySecondListing({ ...of, unfetchable: true });
      }
      const result = await comparing.settleResource.executeWithOptions({ summary: `${resource}: settle` }, [
        { ...of, listings: twice ? 2 : 1 },
      ]);
      // The listing had stood still; or, after a reset, it belongs to the earlier run, and is gone.
      if (result.unlisted === true) continue;
      progress.note(first, inWords(result));
      settled(result);
      return listed;
    } catch (error) {
      if (isCancellation(error)) throw error;
      const { type, message } = failureOf(error);
      progress.streamFailed(first, message);
      return streams.map((stream) => ({ stream, state: 'failed', failureType: type, failure: message }));
    }
  }
}

async function list(
  reader: StreamReader,
  streams: readonly string[],
): Promise<StreamOutcome[] | 'unfinished'> {
  const results = await Promise.all(streams.map((stream) => reader.read(stream)));
  const outcomes = results.filter((result) => result !== 'unfinished');
  return outcomes.length < results.length ? 'unfinished' : outcomes;
}

async function confirmByFetch(
  reader: StreamReader,
  stream: string,
  of: { runId: string; connection: string; resource: string },
): Promise<'confirmed' | 'unfetchable' | 'unfinished'> {
  for (;;) {
    const answer = await reader.ask(stream, (after) =>
      comparing.confirmByFetch.executeWithOptions({ summary: `${of.resource}: fetch what is absent` }, [
        { ...of, ...after },
      ]),
    );
    if (answer === 'unfinished') return answer;
    const { state, unfetchable } = answer;
    if (state === 'done') return unfetchable === true ? 'unfetchable' : 'confirmed';
  }
}

function inWords({ deleted, waiting, held, equal }: ReconciledResource): string {
  if (waiting > 0) return `${waiting} of ${held} gone at the source: waits for approval`;
  const what = deleted > 0 ? `${deleted} deleted, ` : '';
  return `${what}${equal ? 'equal to the source' : 'NOT equal to the source'}`;
}
