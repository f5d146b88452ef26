import { startRun, type RunRequest } from '../../../operations/start-run.ts';
import { paths } from '../../frame/paths.ts';
import type { ActionResult } from '../action.ts';
import type { ConsoleParts } from '../console-parts.ts';

/** A person waits for the answer: Temporal gets no longer than this. */
const deadlineMilliseconds = 5_000;

/** Starts a run as the command of that name does, or says that one runs already. */
export async function startOnRequest(
  { temporal: client, warehouse, settings }: ConsoleParts,
  request: RunRequest,
): Promise<ActionResult> {
  const { connection } = request.input;
  const { joined } = await client.withDeadline(Date.now() + deadlineMilliseconds, () =>
    startRun({ client, warehouse, settings }, request),
  );
  const what = request.kind;
  return {
    notice: joined
      ? `A ${what} of ${connection} runs already; this page shows how far it is.`
      : `The ${what} of ${connection} has started; it begins as soon as a worker takes it.`,
    next: paths.connection(connection),
  };
}
