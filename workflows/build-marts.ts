import {
  ApplicationFailure,
  continueAsNew,
  defineSignal,
  isCancellation,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { BuildTargetInput, MartsOutcome } from '../activities/build-marts.ts';
import { signals } from '../temporal/messages.ts';
import { failureOf } from './failure-of.ts';
import { building } from './proxies.ts';

/** One JSON object, so that "Start Workflow Like This One" in the Web UI repeats it. */
export interface BuildMartsInput {
  /** Who or what asked; shown in the runs' rows. */
  reason?: string;
  /** Whether a snapshot has just been published: its marts are built once, and Postgres gets a copy. */
  afterExport?: boolean;
}

/** There is new data to build on. */
const requestMartsSignal = defineSignal<[Pick<BuildMartsInput, 'afterExport'>?]>(signals.requestMarts);

/**
 * Builds and tests the marts in Postgres, then those on the latest snapshot; if one fails, the other is still built. After an export those on the
 * snapshot come first, and Postgres gets a copy of them; it builds its own if there is none to copy. Requests that arrive meanwhile are left to the
 * next execution.
 */
export async function buildMarts(input: BuildMartsInput | null = {}): Promise<MartsResult> {
  const { reason = 'Temporal', afterExport = false } = input ?? {};
  const { runId } = workflowInfo();
  const requests = { count: 0, afterExport: false };
  setHandler(
    requestMartsSignal,
    (request) => {
      requests.count += 1;
      requests.afterExport = request?.afterExport ?? false;
    },
    { description: 'Build once more after this. Needs no input.' },
  );
  // The signal that came with the start is about this build.
  await Promise.resolve();
  const answered = requests.count;
  const words: string[] = [];
  const build = async (target: WorkflowTarget, copies = false): Promise<Ending> => {
    const where = copies ? `${places.lake}, then copied into Postgres` : places[target];
    show(words, `${where}: being built; the heartbeat of the activity says how far`);
    const ending = await settleBuild(() =>
      building.buildMarts({ runId, target, reason, ...(copies && { copies }) }),
    );
    words.push(`${places[target]}: ${inWords(ending)}`);
    return ending;
  };
  const buildOnce = async (): Promise<MartsResult> => {
    const lake = await build('lake', true);
    if ('copied' in lake) {
      words.push(`${places.postgres}: copied from there`);
      return { postgres: { built: { ...lake.built, marts: lake.copied } }, lake };
    }
    const postgres = await build('postgres');
    return { postgres, lake: 'putOff' in lake ? await build('lake') : lake };
  };
  const result = afterExport
    ? await buildOnce()
    : { postgres: await build('postgres'), lake: await build('lake') };
  show(words);
  if (requests.count > answered)
    return continueAsNew<typeof buildMarts>({ reason, afterExport: requests.afterExport });
  const failures = [result.postgres, result.lake].flatMap((ending) => ('failure' in ending ? [ending] : []));
  const [first] = failures;
  if (first === undefined) return result;
  throw ApplicationFailure.nonRetryable(failures.map(({ failure }) => failure).join(' '), first.type);
}

export interface MartsResult {
  postgres: Ending;
  lake: Ending;
}

type Ending = MartsOutcome | { failure: string; type: string };

/** Builds with Spark are started by a command, not by a workflow. */
type WorkflowTarget = Exclude<BuildTargetInput['target'], 'spark'>;

const places = { postgres: 'in Postgres', lake: 'on the lake' } as const;

async function settleBuild(build: () => Promise<MartsOutcome>): Promise<Ending> {
  try {
    return await build();
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { type, message } = failureOf(error);
    return { failure: message, type };
  }
}

function inWords(ending: Ending): string {
  if ('putOff' in ending) return `put off. ${ending.putOff}`;
  if ('skipped' in ending) return `skipped. ${ending.skipped}`;
  if ('failure' in ending) return `failed. ${ending.failure}`;
  const { built, notCopied } = ending;
  const { marts, as_of_date: day, tests } = built;
  const copy = notCopied === undefined ? '' : `, not copied into Postgres. ${notCopied}`;
  return `${marts} as of ${day}, ${tests} tests${copy}`;
}

function show(words: readonly string[], now?: string): void {
  const lines = [...words, ...(now === undefined ? [] : [now])].map((line) => `- ${line}`);
  setCurrentDetails(['**marts**', '', ...lines].join('\n'));
}
