import type { Lake } from '../../lake/lake.ts';
import type { Manifest, ManifestFile } from '../../lake/manifest.ts';
import { mapAtOnce } from '../../lake/map-at-once.ts';
import { grouped } from './grouped.ts';
import { pathOf, type PartPlanned, type TablePlanned } from './plan-parts.ts';

/** A part of a draft, and its files. */
export interface PartFilled {
  readonly part: PartPlanned;
  readonly files: readonly ManifestFile[];
}

/** While the hash of a file is taken, or a bucket waited for, others go on. */
const partsAtOnce = 8;

/** Gives a draft the files of a snapshot for each part whose rows it has, unless they are not as they were published. Says for which. */
export async function keepParts(
  lake: Lake,
  input: {
    snapshotId: string;
    planned: readonly TablePlanned[];
    base: Manifest;
    onKept: (part: PartPlanned) => void;
  },
): Promise<PartFilled[]> {
  const { snapshotId, planned, base, onKept } = input;
  const held = grouped(
    Object.values(base.tables).flatMap(({ files }) => files),
    ({ content }) => content,
  );
  const wanted = planned.flatMap(({ table, parts }) =>
    parts.flatMap((part) => {
      const files = part.content === undefined ? undefined : held.get(part.content);
      return files === undefined ? [] : [{ table, part, files }];
    }),
  );
  const kept = await mapAtOnce(partsAtOnce, wanted, async ({ table, part, files }) => {
    const named: ManifestFile[] = [];
    for (const [number, file] of files.entries()) {
      const path = pathOf(table, part, number);
      if (!(await lake.keep({ id: base.snapshot_id, file }, { id: snapshotId, path }))) return [];
      named.push({ ...file, path });
    }
    onKept(part);
    return [{ part, files: named }];
  });
  return kept.flat();
}
