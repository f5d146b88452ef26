import type { ResourceName } from '../../sandbox/api/resources.ts';

/** One event of one record at the source. Times are Unix milliseconds. */
export interface Deed {
  readonly kind: DeedKind;
  readonly connection: string;
  readonly resource: ResourceName;
  readonly id: string;
  /** The service's time just before; the version that the event gave the record is not older. */
  readonly version: number;
  /** The local times before and after; the event happened between them. */
  readonly begunAt: number;
  readonly doneAt: number;
}

export type DeedKind = 'changed' | 'touched' | 'added' | 'added late' | 'deleted' | 'vanished' | 'recreated';

/** The ids of records that are gone, as `<resource>/<id>`: the last event of each was a deletion. */
export function goneAfter(deeds: readonly Deed[], connection: string): Set<string> {
  const gone = new Set<string>();
  for (const { kind, resource, id } of deeds.filter((deed) => deed.connection === connection)) {
    if (kind === 'deleted' || kind === 'vanished') gone.add(`${resource}/${id}`);
    if (kind === 'recreated') gone.delete(`${resource}/${id}`);
  }
  return gone;
}
