import { startRun, type RunRequest } from '../../../operations/start-run.ts';
import { paths } from '../../frame/paths.ts';
import type { ActionResult } from '../action.ts';
import type { ConsoleParts } from '../console-parts.ts';

/** Timeout for Temporal, because a person waits for the answer. */
export const answerMilliseconds = 5_000;

/** Starts a run as the command of that name does, or says that one is already running. */
export async function startOnRequest(
  { temporal: client, warehouse, settings }: ConsoleParts,
  request: RunRequest,
): Promise<ActionResult> {
  const { joined } = await client.withDeadline(Date.now() + answerMilliseconds, () =>
    startRun({ client, warehouse, settings }, request),
  );
  return { notice: startedNotice(request, joined), next: paths.connection(request.input.connection) };
}

export function startedNotice({ kind, input: { connection } }: RunRequest, joined: boolean): string {
  return joined
    ? `A ${kind} of ${connection} runs already; this page shows how far it is.`
    : `The ${kind} of ${connection} has started; it begins as soon as a worker takes it.`;
}
