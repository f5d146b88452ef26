import type { Lake } from '../../lake/lake.ts';
import { tableOfFiles, type Manifest, type ManifestTable, type Unfit } from '../../lake/manifest.ts';
import type { DatabaseSnapshot } from '../../warehouse/snapshots/open-snapshot.ts';
import type { ExportJob } from './export-job.ts';
import { fileNames } from './file-names.ts';
import { keepParts, type PartFilled } from './keep-parts.ts';
import type { PartPlanned, TablePlanned } from './plan-parts.ts';
import { batchesOf, writeBatches } from './write-batches.ts';

export interface DraftFilled {
  readonly tables: Record<string, ManifestTable>;
  readonly unfit: Unfit[];
}

/**
 * Fills the draft of a snapshot: with files of `base` where it has the rows of a part and they are as they were published, else with new
 * ones. Throws SnapshotBroken.
 */
export async function fillDraft(
  { snapshot, lake }: { snapshot: DatabaseSnapshot; lake: Lake },
  input: {
    job: ExportJob;
    planned: readonly TablePlanned[];
    base: Manifest | undefined;
    onFilled: (part: PartPlanned) => void;
  },
): Promise<DraftFilled> {
  const { job, planned, base, onFilled } = input;
  const { snapshotId, scratch, partBytes } = job;
  const nameFile = fileNames(planned);
  const kept =
    base === undefined
      ? []
      : await keepParts(lake, { snapshotId, planned, base, nameFile, onKept: onFilled });
  const isKept = new Set(kept.map(({ part }) => part));
  const written = await writeBatches(snapshot, {
    batches: planned.flatMap(({ table, parts }) =>
      batchesOf(
        table,
        parts.filter((part) => !isKept.has(part)),
      ),
    ),
    ...{
      folder: lake.draftFolder(snapshotId),
      scratch,
      partBytes,
      snapshotId,
      nameFile,
      onWritten: onFilled,
    },
  });
  const filled = new Map([...kept, ...written.parts].map((one) => [one.part, one]));
  return {
    tables: Object.fromEntries(planned.map((one) => [one.table.name, tableOf(one, filled)])),
    unfit: planned.flatMap((one) => [
      ...unfitOfKept(one, { base, isKept }),
      ...written.unfit.filter(({ table }) => table === one.table.name),
    ]),
  };
}

function tableOf(
  { table, parts, groups }: TablePlanned,
  filled: ReadonlyMap<PartPlanned, PartFilled>,
): ManifestTable {
  const columns = Object.fromEntries(table.columns.map(({ name, parquet }) => [name, parquet]));
  const files = parts.flatMap((part) => filled.get(part)?.files ?? []);
  const described = tableOfFiles(
    columns,
    files.sort((one, other) => (one.path < other.path ? -1 : 1)),
  );
  return groups === undefined ? described : { ...described, groups };
}

/** What the manifest of the other snapshot lists of the parts that were kept. */
function unfitOfKept(
  { table, parts }: TablePlanned,
  { base, isKept }: { base: Manifest | undefined; isKept: ReadonlySet<PartPlanned> },
): Unfit[] {
  const kept = parts.filter((part) => isKept.has(part));
  const connections = new Set(kept.flatMap((part) => part.connections ?? []));
  const isWhole = kept.some((part) => part.connections === undefined);
  return (base?.unfit ?? []).filter(
    (one) => one.table === table.name && (isWhole || connections.has(String(one.key.connection_id))),
  );
}
