import { eventsStream, resourcesNamed } from '../resources/index.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import { isHalfRead } from '../warehouse/passes/is-half-read.ts';
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
}

export interface BegunRun {
  streams: string[];
  searchable: boolean;
  /** It goes on with lists that a run before it began to read. Workers of 0.5.0 do not tell. */
  goesOn?: boolean;
}

/** Opens the run's row and decides which streams it reads. A token that cannot be opened is found out here. */
export async function beginRun(dependencies: Dependencies, input: BeginRunInput): Promise<BegunRun> {
  const { warehouse, apiAddress, secretKey, searchable } = dependencies;
  const wanted = streamsOf(input.resources);
  await beginRunInWarehouse(warehouse, runOf(input));
  await readAccess(warehouse, secretKey, { connectionId: input.connection, apiAddress });
  return { streams: wanted, searchable, goesOn: await isHalfRead(warehouse, input.connection) };
}

function streamsOf(wanted: readonly string[]): string[] {
  const chosen = resourcesNamed(wanted);
  const lists = chosen.flatMap((resource) => resource.streams.map(({ name }) => name));
  return chosen.some(({ eventName }) => eventName !== null) ? [...lists, eventsStream] : lists;
}
