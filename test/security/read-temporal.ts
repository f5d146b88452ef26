import { Client, Connection } from '@temporalio/client';
import type { Place } from './find-planted.ts';

/** Reads every workflow and schedule of Temporal, with payloads as text. */
export async function readHistories(address: string): Promise<Place[]> {
  const connection = await Connection.connect({ address });
  const { workflow, schedule } = new Client({ connection });
  try {
    const places: Place[] = [];
    for await (const { workflowId, runId } of workflow.list()) {
      const handle = workflow.getHandle(workflowId, runId);
      const known = [await handle.fetchHistory(), (await handle.describe()).raw];
      places.push({ name: `workflow ${workflowId}`, content: textsIn(known).join('\n') });
    }
    for await (const { scheduleId } of schedule.list()) {
      const { raw } = await schedule.getHandle(scheduleId).describe();
      places.push({ name: `schedule ${scheduleId}`, content: textsIn(raw).join('\n') });
    }
    return places;
  } finally {
    await connection.close();
  }
}

function textsIn(value: unknown): string[] {
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('utf8')];
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
