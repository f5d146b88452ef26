import { join } from 'node:path';
import type { Lake } from '../../lake/lake.ts';
import { tableOfFiles, type Manifest, type ManifestTable, type Unfit } from '../../lake/manifest/manifest.ts';
import { takeWithin, type RoomForUnfit } from '../../warehouse/snapshots/list-unfit.ts';
import type { DatabaseSnapshot } from '../../warehouse/snapshots/open-snapshot.ts';
import type { ExportJob } from './export-job.ts';
import { fileNames } from './file-names.ts';
import { keepParts, type PartFilled } from './keep-parts.ts';
import type { PartPlanned, TablePlanned } from './plan-parts.ts';
import { listKept } from './list-kept.ts';
import { columnTypes } from './shows-columns.ts';
import { planUnfit } from './unfit-parts.ts';
import { groupIntoBatches, writeBatches } from './write-batches.ts';

export interface DraftFilled {
  readonly tables: Record<string, ManifestTable>;
  /** The first unfit values, for the manifest. */
  readonly unfit: Unfit[];
}

/** A manifest has 64 MB at most, and a value 130,000 characters. */
const roomInManifest: Readonly<RoomForUnfit> = { values: 10_000, bytes: 8_000_000 };

/**
 * Fills the draft of a snapshot. Reuses a file of `base` if it holds the rows of a part and is unchanged since its publication; writes the
 * others anew. Throws SnapshotBroken.
 */
export async function fillDraft(
  { snapshot, lake }: { snapshot: DatabaseSnapshot; lake: Lake },
  input: {
    job: ExportJob;
    /** The folder of the draft. */
    folder: string;
    planned: readonly TablePlanned[];
    base: Manifest | undefined;
    onFilled: (part: PartPlanned) => void;
  },
): Promise<DraftFilled> {
  const { job, folder, planned, onFilled } = input;
  const { snapshotId, scratch, partBytes } = job;
  const unfit = planUnfit(planned);
  const nameFile = fileNames([...planned, unfit]);
  // A snapshot of an earlier release does not list the unfit values of its parts.
  const base = input.base?.tables[unfit.table.name] === undefined ? undefined : input.base;
  const room = { ...roomInManifest };
  const kept =
    base === undefined
      ? []
      : await keepParts(lake, { snapshotId, planned, unfit, base, nameFile, onKept: onFilled });
  const isKept = new Set(kept.map(({ part }) => part));
  const listed =
    base === undefined
      ? []
      : takeWithin(
          room,
          await listKept(lake, { base, kept, planned, unfit, spillFolder: join(scratch, 'spill'), room }),
        );
  const written = await writeBatches(snapshot, {
    batches: planned.flatMap(({ table, parts }) =>
      groupIntoBatches(
        table,
        parts.filter((part) => !isKept.has(part)),
      ),
    ),
    unfit,
    room,
    folder,
    scratch,
    partBytes,
    snapshotId,
    nameFile,
    onWritten: onFilled,
  });
  const filled = new Map([...kept, ...written.parts].map((one) => [one.part, one]));
  const all = [...listed, ...written.unfit];
  return {
    tables: Object.fromEntries(
      [...planned, unfit].map((one) => [one.table.name, describeTable(one, filled)]),
    ),
    unfit: planned.flatMap(({ table: { name } }) => all.filter(({ table }) => table === name)),
  };
}

function describeTable(
  { table, parts, groups }: TablePlanned,
  filled: ReadonlyMap<PartPlanned, PartFilled>,
): ManifestTable {
  const files = parts.flatMap((part) => filled.get(part)?.files ?? []);
  const described = tableOfFiles(
    columnTypes(table),
    files.sort((one, other) => (one.path < other.path ? -1 : 1)),
  );
  return groups === undefined ? described : { ...described, groups };
}
