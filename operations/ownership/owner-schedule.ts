import { randomUUID } from 'node:crypto';
import { ScheduleAlreadyRunning, ServiceError, type Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { codeOf } from '../../errors/code-of.ts';
import { scheduleIds } from '../../temporal/schedule-ids.ts';
import { scheduledWorkflowTypes } from '../../temporal/start-request.ts';
import { mainQueue } from '../../temporal/task-queues.ts';
import { ownerRecord, type OwnerRecord } from './owner-record.ts';

/** A paused schedule never expires, needs no worker, and can be compared and set. */
const ownerScheduleId = scheduleIds.owner;

/** The record as read, and a way to replace exactly this version. */
export interface OwnerFound {
  readonly record: OwnerRecord;
  /**
   * Asks Temporal to store another record, unless this one was replaced meanwhile. Temporal does not reliably report success (servers before
   * 1.30 silently drop late updates), so callers must read it again.
   */
  readonly replace: (record: OwnerRecord) => Promise<void>;
}

/** Undefined: nobody owns the namespace. Throws the errors of the client if Temporal is away. */
export async function readOwner(temporal: Client): Promise<OwnerFound | undefined> {
  const { namespace } = temporal.options;
  const found = await notFoundIsNone(() =>
    withDeadline(temporal, () =>
      temporal.workflowService.describeSchedule({ namespace, scheduleId: ownerScheduleId }),
    ),
  );
  if (found === undefined) return undefined;
  const { schedule, conflictToken } = found;
  const [payload] = schedule?.action?.startWorkflow?.input?.payloads ?? [];
  const parsed = ownerRecord.safeParse(
    payload === undefined ? undefined : defaultPayloadConverter.fromPayload(payload),
  );
  if (!parsed.success) throw new Error(unreadable);
  return {
    record: parsed.data,
    async replace(record) {
      const action = schedule?.action?.startWorkflow;
      const input = { payloads: [defaultPayloadConverter.toPayload(record)] };
      const next = {
        ...schedule,
        action: { startWorkflow: { ...action, input } },
        state: { ...schedule?.state, paused: true, notes: ownerNote(record) },
      };
      await conflictIsNone(() =>
        withDeadline(temporal, () =>
          temporal.workflowService.updateSchedule({
            namespace,
            scheduleId: ownerScheduleId,
            schedule: next,
            conflictToken,
            requestId: randomUUID(),
            identity: temporal.options.identity,
          }),
        ),
      );
    },
  };
}

/** Returns false if there is one already. */
export async function createOwner(temporal: Client, record: OwnerRecord): Promise<boolean> {
  try {
    await withDeadline(temporal, () =>
      temporal.schedule.create({
        scheduleId: ownerScheduleId,
        spec: { intervals: [{ every: '3650d' }] },
        action: {
          type: 'startWorkflow',
          workflowType: scheduledWorkflowTypes.owner,
          workflowId: ownerScheduleId,
          taskQueue: mainQueue,
          args: [record],
          staticSummary: 'Says which Daybook this namespace belongs to',
        },
        state: { paused: true, note: ownerNote(record) },
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return false;
    throw error;
  }
}

function withDeadline<Result>(temporal: Client, ask: () => Promise<Result>): Promise<Result> {
  return temporal.withDeadline(Date.now() + 10_000, ask);
}

const unreadable =
  `Temporal has a schedule "${ownerScheduleId}" that does not say who owns the namespace. ` +
  'Delete it, then start a worker, which recreates it.';

function ownerNote({ warehouse, database, api }: OwnerRecord): string {
  return `Says that this namespace belongs to the Daybook warehouse ${warehouse} (database ${database}, API ${api}). Paused for good; leave it.`;
}

async function notFoundIsNone<Result>(ask: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (codeOf(error) === grpcCodes.notFound) return undefined;
    throw asServiceError(error, 'Could not ask Temporal who owns the namespace');
  }
}

/** Newer servers report a lost race as an error. */
async function conflictIsNone(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const lost: unknown[] = [grpcCodes.failedPrecondition, grpcCodes.aborted, grpcCodes.notFound];
    if (lost.includes(codeOf(error))) return;
    throw asServiceError(error, 'Could not tell Temporal who owns the namespace');
  }
}

const grpcCodes = { notFound: 5, failedPrecondition: 9, aborted: 10 };

/** Wraps the error like the client's own calls do. */
function asServiceError(error: unknown, message: string): Error {
  return error instanceof Error ? new ServiceError(message, { cause: error }) : new Error(String(error));
}
