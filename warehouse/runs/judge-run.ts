import type { RunStatus } from '../tables/runs.ts';

/** The outcome of a stream at the end of a run, as the workflow knows it. */
export interface StreamOutcome {
  stream: string;
  state: 'done' | 'unsupported' | 'failed';
  failureType?: string;
  failure?: string;
}

export interface FinishedRun {
  status: Exclude<RunStatus, 'running' | 'interrupted' | 'unsupported'>;
  failure: string | null;
}

/** How a stream ended, according to its row. */
export interface CountedStream {
  stream: string;
  status: string;
  failure_type: string | null;
  failure: string | null;
}

/**
 * Judges a run: see `finishRun`. `known` are the rows of its streams, which take precedence over what the workflow remembers. `notOffered`: the
 * platform is known to have none of its lists, because others answer.
 */
export function judgeRun(
  outcomes: readonly StreamOutcome[],
  known: readonly CountedStream[],
  { notOffered }: { notOffered: boolean },
): FinishedRun {
  const statuses = outcomes.map(({ stream, state }) =>
    state === 'done' ? (known.find((row) => row.stream === stream)?.status ?? 'succeeded') : state,
  );
  const failure = describeFailures([
    ...outcomes,
    ...known.filter(({ status }) => status === 'partial').map(asOutcome),
  ]);
  if (statuses.every((status) => status === 'unsupported')) {
    if (notOffered) return { status: 'succeeded', failure: null };
    return {
      status: 'failed',
      failure:
        'The service lists none of the resources for this connection. Check DAYBOOK_API_URL and the platform.',
    };
  }
  // Whatever got through before, the run was stopped.
  const stopped = outcomes.some(({ failureType }) => failureType === 'IdentityChanged');
  if (stopped || !statuses.some((status) => status === 'succeeded' || status === 'partial'))
    return { status: 'failed', failure };
  const complete = statuses.every((status) => status === 'succeeded' || status === 'unsupported');
  return { status: complete ? 'succeeded' : 'partial', failure };
}

/** Converts a row: a stream that got through may still have a failure to report. */
function asOutcome({ stream, failure_type, failure }: CountedStream): StreamOutcome {
  return failure === null
    ? { stream, state: 'done' }
    : { stream, state: 'failed', failureType: failure_type ?? '', failure };
}

/** Returns one sentence for each type of failure: what refuses one stream often refuses them all. */
function describeFailures(outcomes: readonly StreamOutcome[]): string | null {
  const failed = outcomes.filter(({ state }) => state === 'failed');
  const types = [...new Set(failed.map(({ failureType }) => failureType))];
  const sentences = types.map((type) => {
    const [first, ...others] = failed.filter(({ failureType }) => failureType === type);
    const same = others.length === 0 ? '' : ` The same for ${others.map(({ stream }) => stream).join(', ')}.`;
    return `${first?.failure ?? ''}${same}`;
  });
  return sentences.length === 0 ? null : sentences.join(' ');
}
