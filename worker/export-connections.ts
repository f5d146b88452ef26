/**
 * How many of the connections of a process an export may have: one for itself and two that read side by side, where enough are
 * left for syncs. They are not taken from the pool, so the pool has so many less.
 */
export function exportConnections({ connections }: { connections: number }): number {
  return connections >= 8 ? 3 : 1;
}
