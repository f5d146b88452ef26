import type { Lake } from '../../lake/lake.ts';
import type { Manifest, ManifestFile } from '../../lake/manifest/manifest.ts';
import { mapConcurrently } from '../../lake/map-concurrently.ts';
import type { FileNames } from './file-names.ts';
import { grouped } from './grouped.ts';
import type { PartPlanned, TablePlanned } from './plan-parts.ts';
import { needsFile, type UnfitPlanned } from './unfit-parts.ts';

/** A part of a draft and its files. */
export interface PartFilled {
  readonly part: PartPlanned;
  readonly files: readonly ManifestFile[];
}

/** While one part hashes a file or waits for a bucket, others proceed. */
const partsAtOnce = 8;

/**
 * Reuses a snapshot's files for each part with the same rows, and the files that list its unfit values, unless they have changed since
 * their publication. Returns the filled parts.
 */
export async function keepParts(
  lake: Lake,
  input: {
    snapshotId: string;
    planned: readonly TablePlanned[];
    unfit: UnfitPlanned;
    base: Manifest;
    nameFile: FileNames;
    onKept: (part: PartPlanned) => void;
  },
): Promise<PartFilled[]> {
  const { snapshotId, planned, unfit, base, nameFile, onKept } = input;
  const held = grouped(
    Object.values(base.tables).flatMap(({ files }) => files),
    ({ content }) => content,
  );
  const wanted = planned.flatMap(({ table, parts }) =>
    parts.flatMap((part) => {
      const files = part.content === undefined ? undefined : held.get(part.content);
      // New files must have this number of rows, too.
      if (files === undefined || rowsIn(files) !== part.rows) return [];
      const listing = unfit.partFor(part);
      const listed = listing === undefined ? [] : (held.get(listing.content) ?? []);
      if (listing !== undefined && needsFile(listing) && listed.length === 0) return [];
      const of = { table, part, files };
      return [listing === undefined ? [of] : [of, { table: unfit.table, part: listing, files: listed }]];
    }),
  );
  const kept = await mapConcurrently(partsAtOnce, wanted, async (together) => {
    const named = together.map(({ table, part, files }) => ({
      part,
      files,
      paths: files.map((_, number) => nameFile(table, part, number)),
    }));
    const files = named.flatMap((one) => one.files);
    const paths = named.flatMap((one) => one.paths);
    const to = { id: snapshotId, paths };
    if (!(await lake.keep({ id: base.snapshot_id, files }, to))) return [];
    for (const { part } of named) onKept(part);
    return named.map((one) => ({
      part: one.part,
      files: one.files.map((file, number) => ({ ...file, path: one.paths[number] ?? file.path })),
    }));
  });
  return kept.flat();
}

function rowsIn(files: readonly ManifestFile[]): number {
  return files.reduce((sum, { rows }) => sum + rows, 0);
}
