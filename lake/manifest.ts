import { createHash } from 'node:crypto';
import { z } from 'zod';

/** What a snapshot consists of, as `_manifest.json` says it. Decimal sums and watermarks are text, so that no digit is lost. */
export type Manifest = z.infer<typeof manifestSchema>;

/** A value that its Parquet type cannot hold: null in the file, and here as Postgres writes it. */
export type Unfit = z.infer<typeof unfitSchema>;

export type ManifestTable = z.infer<typeof tableSchema>;

const fileSchema = z.object({
  /** Relative to the snapshot. */
  path: z.string(),
  rows: z.number(),
  bytes: z.number(),
  sha256: z.string(),
});

const tableSchema = z.object({
  rows: z.number(),
  bytes: z.number(),
  columns: z.record(z.string(), z.string()),
  /** Of every decimal column, without what does not fit. */
  sums: z.record(z.string(), z.string()),
  files: z.array(fileSchema),
});

const unfitSchema = z.object({
  table: z.string(),
  column: z.string(),
  key: z.record(z.string(), z.union([z.string(), z.number()])),
  value: z.string(),
});

const manifestSchema = z.object({
  snapshot_id: z.string(),
  run_id: z.string(),
  warehouse_id: z.string(),
  /** Every row is as it was at this moment, by the database clock. */
  taken_at: z.string(),
  product_version: z.string(),
  schema_version: z.string(),
  rows: z.number(),
  bytes: z.number(),
  tables: z.record(z.string(), tableSchema),
  watermarks: z.array(
    z.object({ connection_id: z.string(), stream: z.string(), watermark: z.string().nullable() }),
  ),
  unfit: z.array(unfitSchema),
});

/** The same manifest is the same text: keys are sorted. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(sorted(manifest), null, 2)}\n`;
}

/** Throws what zod says when the text is no manifest. */
export function parseManifest(text: string): Manifest {
  return manifestSchema.parse(JSON.parse(text));
}

/** Undefined when the text is neither JSON nor a manifest. */
export function manifestIn(text: string): Manifest | undefined {
  try {
    return parseManifest(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return undefined;
    throw error;
  }
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
