import { eventsStream, resourcesNamed } from '../resources/index.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import { isHalfRead } from '../warehouse/passes/is-half-read.ts';
import { adoptRun } from '../warehouse/runs/adopt-run.ts';
import { beginRun as beginRunInWarehouse } from '../warehouse/runs/begin-run.ts';
import type { RunKind } from '../warehouse/tables/runs.ts';
import type { Dependencies } from './dependencies.ts';
import { runOf } from './run-of.ts';

export interface BeginRunInput {
  runId: string;
  connection: string;
  /** All, when empty. */
  resources: readonly string[];
  reason: string;
  /** A sync, when absent. */
  kind?: RunKind;
  /** The run that the tick of a schedule has begun, and left to a workflow. */
  adopts?: { runId: string };
}

export interface BegunRun {
  streams: string[];
  searchable: boolean;
  /** It goes on with lists that a run before it began to read. Workers of 0.5.0 do not tell. */
  goesOn?: boolean;
  /** It goes on with the tick's run, as long as it is this execution. */
  adopted?: { runId: string; by: string };
}

/** Opens the run's row and decides which streams it reads. A token that cannot be opened is found out here. */
export async function beginRun(dependencies: Dependencies, input: BeginRunInput): Promise<BegunRun> {
  const { warehouse, apiAddress, secretKey, searchable } = dependencies;
  const wanted = streamsToRead(input.resources);
  const own = runOf(input);
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

/** The names of the streams of these resources, the events last. All resources, when none is named. */
export function streamsToRead(wanted: readonly string[]): string[] {
  const chosen = resourcesNamed(wanted);
  const lists = chosen.flatMap((resource) => resource.streams.map(({ name }) => name));
  return chosen.some(({ eventName }) => eventName !== null) ? [...lists, eventsStream] : lists;
}
