import { eventsStream, streams } from '../resources/index.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import { isHalfRead } from '../warehouse/passes/is-half-read.ts';
import { beginRun as beginRunInWarehouse } from '../warehouse/runs/begin-run.ts';
import type { RunKind } from '../warehouse/tables/runs.ts';
import type { Dependencies } from './dependencies.ts';
import { runOf } from './run-of.ts';
import { UnknownResource } from './unknown-resource.ts';

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
  const known = new Set(streams.map(({ resource }) => resource.name));
  const unknown = wanted.filter((name) => !known.has(name));
  if (unknown.length > 0) throw new UnknownResource(unknown, [...known]);
  const chosen = streams.filter(({ resource }) => wanted.length === 0 || wanted.includes(resource.name));
  const lists = chosen.map(({ stream }) => stream.name);
  return chosen.some(({ resource }) => resource.eventName !== null) ? [...lists, eventsStream] : lists;
}
