import type { Lake } from '../../lake/lake.ts';
import type { Manifest, ManifestFile } from '../../lake/manifest.ts';
import { mapAtOnce } from '../../lake/map-at-once.ts';
import type { FileNames } from './file-names.ts';
import { grouped } from './grouped.ts';
import type { PartPlanned, TablePlanned } from './plan-parts.ts';

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
    nameFile: FileNames;
    onKept: (part: PartPlanned) => void;
  },
): Promise<PartFilled[]> {
  const { snapshotId, planned, base, nameFile, onKept } = input;
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
    const paths = files.map((_, number) => nameFile(table, part, number));
    if (!(await lake.keep({ id: base.snapshot_id, files }, { id: snapshotId, paths }))) return [];
    onKept(part);
    return [{ part, files: files.map((file, number) => ({ ...file, path: paths[number] ?? file.path })) }];
  });
  return kept.flat();
}
