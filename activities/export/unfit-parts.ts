import { createHash } from 'node:crypto';
import type { SnapshotTable } from '../../warehouse/snapshots/snapshot-table.ts';
import { mayBeUnfit, unfitTable } from '../../warehouse/snapshots/unfit-table.ts';
import type { PartPlanned, TablePlanned } from './plan-parts.ts';

/** The parts of the table of unfit values. Each lists the unfit values of one part of another table, and is unchanged as long as that part is. */
export interface UnfitPlanned extends TablePlanned {
  /** Undefined if no value can be unfit. */
  readonly partFor: (part: PartPlanned) => PartPlanned | undefined;
}

export function planUnfit(planned: readonly TablePlanned[]): UnfitPlanned {
  const sources = planned.filter(({ table }) => mayBeUnfit(table)).flatMap(({ parts }) => parts);
  const parts = sources.map(({ connections, piece, content }, index) => ({
    index,
    connections,
    piece,
    rows: 0,
    content: content === undefined ? undefined : contentFor(content),
  }));
  const byPart = new Map(sources.map((part, index) => [part, parts[index]]));
  const table: SnapshotTable = { ...unfitTable, from: '', changesBy: 'none' };
  return { table, parts, groups: undefined, partFor: (part) => byPart.get(part) };
}

/** Only the first part has a file even without rows: so the table always has one, and no more than it needs. */
export function needsFile({ index }: PartPlanned): boolean {
  return index === 0;
}

function contentFor(content: string): string {
  return createHash('sha256').update(`${unfitTable.name} ${content}`).digest('hex');
}
