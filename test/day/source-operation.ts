import type { ResourceName } from '../../sandbox/api/resources.ts';

/** One operation on one record at the source. Times are Unix milliseconds. */
export interface SourceOperation {
  readonly kind: SourceOperationKind;
  readonly connection: string;
  readonly resource: ResourceName;
  readonly id: string;
  /** The service's time just before; the version that the operation gave the record is not older. */
  readonly version: number;
  /** The local times before and after; the operation happened between them. */
  readonly begunAt: number;
  readonly doneAt: number;
}

export type SourceOperationKind =
  'changed' | 'touched' | 'added' | 'added late' | 'deleted' | 'vanished' | 'recreated';

/** The ids of records that are gone, as `<resource>/<id>`: the last operation on each was a deletion. */
export function goneAfter(operations: readonly SourceOperation[], connection: string): Set<string> {
  const gone = new Set<string>();
  for (const { kind, resource, id } of operations.filter(
    (operation) => operation.connection === connection,
  )) {
    if (kind === 'deleted' || kind === 'vanished') gone.add(`${resource}/${id}`);
    if (kind === 'recreated') gone.delete(`${resource}/${id}`);
  }
  return gone;
}
