import { findDamage } from '../../lake/snapshots/find-damage.ts';
import { manifestFile, type Lake } from '../../lake/lake.ts';
import { sha256Of, type Manifest } from '../../lake/manifest/manifest.ts';
import { nearIds } from '../../lake/own-lake.ts';
import { lookAtManifest, lookAtPointer, pointerPath } from '../../lake/manifest/pointer.ts';
import { readNote } from '../../warehouse/snapshots/note-snapshot.ts';
import type { ExportSession } from '../../warehouse/snapshots/open-snapshot.ts';
import type { ExportJob } from './export-job.ts';
import { showsColumns } from './shows-columns.ts';

/** The snapshot that readers see now. */
export interface Current {
  /** Undefined when it cannot be read. */
  manifest: Manifest | undefined;
  /** What this database has noted of it. */
  noted: { mark: string; isSame: boolean } | undefined;
  /** What is known to be wrong with it, before its files were looked at. */
  damage?: string;
}

/**
 * Of a snapshot that an earlier attempt published: what it was made of may have been lost with a failover since. The next export is not skipped,
 * and writes all files anew.
 */
export const unknownMark = 'unknown';

/** Undefined before the first snapshot. */
export async function readCurrent({
  session,
  lake,
}: {
  session: ExportSession;
  lake: Lake;
}): Promise<Current | undefined> {
  const pointer = await lookAtPointer(lake);
  if (pointer === undefined) return undefined;
  const named = pointer.value?.snapshot_id;
  const namedManifest = named === undefined ? undefined : await lookAtManifest(lake, named);
  const id = namedManifest === undefined ? (await nearIds(lake)).at(-1) : named;
  if (id === undefined) return undefined;
  const seen = namedManifest ?? (await lookAtManifest(lake, id));
  const manifest = seen?.value;
  const note = await readNote(session.client, id);
  const noted = note && {
    mark: note.mark,
    isSame: note.mark !== unknownMark && note.manifestSha256 === sha256Of(seen?.found.text ?? ''),
  };
  if (namedManifest !== undefined) return { manifest, noted };
  const damage =
    named === undefined
      ? `${pointerPath} cannot be read`
      : `${pointerPath} names ${named}, which is not there`;
  return { manifest, noted, damage };
}

/**
 * What readers see, if it shows what the tables hold now: whole, or with its damage. It is looked at only then, file by file, because
 * any other is replaced in any case.
 */
export async function sameSnapshot(
  lake: Lake,
  { job, current, mark }: { job: ExportJob; current: Current | undefined; mark: string },
): Promise<Current | undefined> {
  if (current === undefined || job.force) return undefined;
  if (current.damage !== undefined) return current;
  const { manifest, noted } = current;
  if (manifest === undefined) return { manifest, noted, damage: `${manifestFile} cannot be read` };
  if (noted?.mark !== mark || !showsColumns(manifest)) return undefined;
  const [first, ...more] = (await findDamage(lake, manifest.snapshot_id)).problems;
  if (first === undefined) return current;
  return { manifest, noted, damage: more.length === 0 ? first : `${first}, and ${more.length} more` };
}

/**
 * The snapshot whose files the new one may have: none where this database does not know it, for its rows may have had the same numbers of
 * transactions in another past, before a backup was restored; and none when somebody wants all of it made anew.
 */
export function baseOf(current: Current | undefined, { force }: ExportJob): Manifest | undefined {
  return force !== true && current?.noted?.isSame === true ? current.manifest : undefined;
}
