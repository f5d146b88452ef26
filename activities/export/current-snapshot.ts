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
  /** This database's notes about it. */
  noted: { mark: string; isSame: boolean } | undefined;
  /** A problem that is known before its files are checked. */
  damage?: string;
}

/**
 * The mark of a snapshot that an earlier attempt published. A failover since may have lost its source rows, so the next export is not
 * skipped, and writes all files anew.
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
 * Returns the snapshot that readers see, and its damage, if it shows the tables' current contents. Only then are its files checked, because
 * any other snapshot is replaced anyway.
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
 * Returns the snapshot whose files the new one may reuse. Undefined if this database does not know it, because before the restore of a backup
 * different rows may have had the same transaction IDs; undefined also if everything is to be written anew.
 */
export function findBase(current: Current | undefined, { force }: ExportJob): Manifest | undefined {
  return force !== true && current?.noted?.isSame === true ? current.manifest : undefined;
}
