import type { Resource } from '../../resources/resource.ts';

/** One resource of a connection, as one reconcile sees it. */
export interface ResourceOfRun {
  readonly connectionId: string;
  readonly resource: Resource;
  readonly runId: string;
}

export function streamsOf(resource: Resource): string[] {
  return resource.streams.map(({ name }) => name);
}
