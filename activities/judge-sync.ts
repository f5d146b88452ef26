import { noteSyncEnd } from '../warehouse/connections/note-sync-end.ts';
import { otherCompany } from '../warehouse/connections/refuse-token.ts';
import type { FinishedRun, StreamOutcome } from '../warehouse/runs/judge-run.ts';
import { listsWereRead } from '../warehouse/webhooks/leave-to-list.ts';
import type { Dependencies } from './dependencies.ts';
import { updateSchedules } from './update-schedules.ts';

/**
 * Applies the result of a sync to later ones: failures make them less frequent, a failure that only a person can fix pauses the connection,
 * and a successful sync ends both.
 */
export async function judgeSync(
  { warehouse, schedules }: Pick<Dependencies, 'warehouse' | 'schedules'>,
  input: {
    runId: string;
    connection: string;
    outcomes: readonly StreamOutcome[];
    status: FinishedRun['status'];
  },
): Promise<void> {
  const { runId, connection, outcomes, status } = input;
  const pauseWhy = whyToPause(connection, outcomes);
  if (status === 'succeeded' || status === 'partial') await listsWereRead(warehouse, connection);
  const changed = await noteSyncEnd(warehouse, { connectionId: connection, runId, status, pauseWhy });
  if (changed) await updateSchedules({ schedules }, connection);
}

function whyToPause(connection: string, outcomes: readonly StreamOutcome[]): string | null {
  const types = outcomes.map(({ failureType }) => failureType ?? '');
  const mend = Object.entries(onlyPeopleMend).find(([type]) => types.includes(type))?.[1];
  return mend?.(connection) ?? null;
}

/** Sentences by type of failure. */
const onlyPeopleMend: Record<string, (connection: string) => string> = {
  CredentialsRefused: (name) =>
    `The finance API refused the credentials of ${name}: set the right token with "daybook connection set-token ${name}"; it then resumes by itself. ` +
    `If it refused every connection, DAYBOOK_CLIENT_ID or DAYBOOK_CLIENT_SECRET is wrong: set it, restart Daybook, then "daybook connection resume ${name}".`,
  IdentityChanged: otherCompany,
  PlatformAccessRefused: (name) =>
    `The accounting platform refused ${name}: have the company authorize it again, then "daybook connection resume ${name}".`,
  ConnectionDisabled: (name) =>
    `${name} does not work at the finance API: repair or reauthorize it there, then "daybook connection resume ${name}".`,
};
