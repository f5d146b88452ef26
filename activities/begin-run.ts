import { eventsStream, resourcesNamed } from '../resources/index.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import { isHalfRead } from '../warehouse/passes/is-half-read.ts';
import { adoptRun } from '../warehouse/runs/adopt-run.ts';
import { beginRun as beginRunInWarehouse } from '../warehouse/runs/begin-run.ts';
import type { RunKind } from '../warehouse/tables/runs.ts';
import type { Dependencies } from './dependencies.ts';
import { runOfActivity } from './run-of-activity.ts';

export interface BeginRunInput {
  runId: string;
  connection: string;
  /** Empty: all. */
  resources: readonly string[];
  reason: string;
  /** Absent: a sync. */
  kind?: RunKind;
  /** The run that a schedule's tick has begun and left to this workflow. */
  adopts?: { runId: string };
}

export interface BegunRun {
  streams: string[];
  searchable: boolean;
  /** Whether it continues lists that an earlier run began to read. Absent from workers of 0.5.0. */
  goesOn?: boolean;
  /** It continues the tick's run, as long as that run belongs to this execution. */
  adopted?: { runId: string; by: string };
}

/** Opens the run's row and decides which streams it reads. Fails early if the token cannot be decrypted. */
export async function beginRun(dependencies: Dependencies, input: BeginRunInput): Promise<BegunRun> {
  const { warehouse, apiAddress, secretKey, searchable } = dependencies;
  const wanted = streamsToRead(input.resources);
  const own = runOfActivity(input);
  const run = input.adopts === undefined ? own : { ...own, runId: input.adopts.runId };
  const adopted = input.adopts === undefined ? undefined : await adoptRun(warehouse, run);
  await beginRunInWarehouse(warehouse, adopted === undefined ? own : run);
  await readAccess(warehouse, secretKey, { connectionId: input.connection, apiAddress });
  return {
    streams: wanted,
    searchable,
    goesOn: adopted?.hasRead === true || (await isHalfRead(warehouse, input.connection)),
    ...(adopted === undefined ? {} : { adopted: { runId: run.runId, by: run.temporalRunId } }),
  };
}

/** Returns the names of the streams of these resources, the events last. No resource named: all. */
export function streamsToRead(wanted: readonly string[]): string[] {
  const chosen = resourcesNamed(wanted);
  const lists = chosen.flatMap((resource) => resource.streams.map(({ name }) => name));
  return chosen.some(({ eventName }) => eventName !== null) ? [...lists, eventsStream] : lists;
}
