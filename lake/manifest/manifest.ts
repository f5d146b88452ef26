import { createHash } from 'node:crypto';
import * as z from 'zod';
import { byName, checkedList } from './checked-members.ts';
import {
  countNumber,
  instantText,
  nameText,
  partPath,
  sha256Text,
  snapshotIdText,
  watermarkText,
  wordText,
} from './checked-texts.ts';
import { ManifestTooLong } from '../errors.ts';
import { exactSum } from '../parquet/exact-sum.ts';
import { manifestFile, maxBytesFor } from '../lake.ts';

/** The contents of a snapshot, as in `_manifest.json`. Decimal sums and watermarks are text, so that no digit is lost. */
export type Manifest = z.infer<typeof manifestSchema>;

/** A value that its Parquet type cannot hold to the last digit: rounded or null in the file, and listed here as Postgres writes it. */
export type Unfit = z.infer<typeof unfitSchema>;

export type ManifestTable = z.infer<typeof tableSchema>;

export type ManifestFile = z.infer<typeof fileSchema>;

const sumsSchema = byName(z.string().regex(/^-?\d{1,80}(\.\d{1,80})?$/));

/** Optional fields are absent in snapshots of releases before 0.6. */
const fileSchema = z.object({
  /** Relative to the snapshot. */
  path: partPath,
  rows: countNumber,
  bytes: countNumber,
  sha256: sha256Text,
  sums: sumsSchema.optional(),
  /** The fingerprint of its rows in the database: a later snapshot with the same fingerprint reuses the file. */
  content: sha256Text.optional(),
  /** The snapshot for which it was written. */
  since: snapshotIdText.optional(),
});

const tableSchema = z.object({
  rows: countNumber,
  bytes: countNumber,
  columns: byName(z.string().regex(/^[A-Z][A-Z0-9_ ,()]{0,99}$/)),
  /** The sums of all decimal columns, as in the files. */
  sums: sumsSchema,
  /** The number of groups of connections that share parts; absent if the table is one part, and before 0.6. */
  groups: countNumber.optional(),
  files: checkedList(fileSchema),
});

const unfitSchema = z.object({
  table: nameText,
  column: nameText,
  key: byName(z.union([z.string(), z.number()])),
  value: z.string(),
  /** Whether the file holds it with fewer decimals; otherwise it is null there. Snapshots of 0.5 and older never round, and omit this. */
  rounded: z.boolean().optional(),
});

export const manifestSchema = z
  .object({
    snapshot_id: snapshotIdText,
    run_id: wordText,
    warehouse_id: wordText,
    /** The time whose rows it holds, by the database clock. */
    taken_at: instantText,
    product_version: wordText,
    schema_version: wordText,
    rows: countNumber,
    bytes: countNumber,
    tables: byName(tableSchema),
    watermarks: checkedList(
      z.object({ connection_id: wordText, stream: nameText, watermark: watermarkText.nullable() }),
    ),
    /** The first unfit values. All of them are in the table `unfit_values`, which snapshots before 0.6 lack. */
    unfit: checkedList(unfitSchema),
    /** The number of all unfit values; absent if all are listed here. */
    unfit_values: countNumber.optional(),
  })
  .refine(({ tables }) => Object.entries(tables).every(holdsOwnFiles), { path: ['tables'] });

/** Whether each file of a table lies in its folder, and is named once. */
function holdsOwnFiles([table, { files }]: [string, ManifestTable]): boolean {
  const paths = new Set(files.map(({ path }) => path));
  return paths.size === files.length && files.every(({ path }) => path.startsWith(`${table}/`));
}

/** Describes a table of these files, in the order of their names. */
export function tableOfFiles(
  columns: ManifestTable['columns'],
  files: readonly ManifestFile[],
): ManifestTable {
  const sumFiles = (what: 'rows' | 'bytes'): number => files.reduce((sum, file) => sum + file[what], 0);
  return {
    rows: sumFiles('rows'),
    bytes: sumFiles('bytes'),
    columns,
    sums: Object.fromEntries(
      Object.keys(files[0]?.sums ?? {}).map((name) => [
        name,
        exactSum(...files.map(({ sums }) => sums?.[name] ?? '0')),
      ]),
    ),
    files: [...files].sort((one, other) => (one.path < other.path ? -1 : 1)),
  };
}

/** Returns the files that were written for the snapshot itself: before 0.6, all of them. */
export function filesWrittenFor({ snapshot_id: id, tables }: Manifest): ManifestFile[] {
  return Object.values(tables)
    .flatMap(({ files }) => files)
    .filter(({ since }) => since === undefined || since === id);
}

/** Returns the number of a snapshot's files, and of those written for it. */
export function sizesOf(manifest: Manifest): { parts: number; partsAdded: number; bytesAdded: number } {
  const added = filesWrittenFor(manifest);
  return {
    parts: Object.values(manifest.tables).reduce((sum, { files }) => sum + files.length, 0),
    partsAdded: added.length,
    bytesAdded: added.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** The table of a snapshot that lists values which its other tables do not hold to the last digit. */
export const unfitTableName = 'unfit_values';

/** The number of values that its files do not hold to the last digit. */
export function countUnfit({ unfit, unfit_values: all }: Pick<Manifest, 'unfit' | 'unfit_values'>): number {
  return all ?? unfit.length;
}

/** Writes the manifest with sorted keys, so that equal manifests are equal texts. Throws ManifestTooLong if no reader would accept it. */
export function manifestText(manifest: Manifest): string {
  const text = `${JSON.stringify(sorted(manifest), null, 2)}\n`;
  if (Buffer.byteLength(text) > maxBytesFor(manifestFile)) throw new ManifestTooLong(listedIn(manifest));
  return text;
}

function listedIn(manifest: Manifest): ConstructorParameters<typeof ManifestTooLong>[0] {
  const { watermarks, unfit } = manifest;
  return { files: sizesOf(manifest).parts, watermarks: watermarks.length, unfit: unfit.length };
}

export function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]));
}
