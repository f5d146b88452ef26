import { z } from 'zod';
import type { Lake } from './lake.ts';
import { parseManifest, sha256Of, type Manifest } from './manifest.ts';

/** `latest.json`: which snapshot readers are to take. `manifest` is a path relative to the lake. */
export type Pointer = z.infer<typeof pointerSchema>;

const pointerSchema = z.object({
  snapshot_id: z.string(),
  manifest: z.string(),
  manifest_sha256: z.string(),
});

export const pointerPath = 'latest.json';

export function manifestPath(id: string): string {
  return `snapshots/${id}/_manifest.json`;
}

/** Undefined before the first snapshot. */
export async function readPointer(lake: Lake): Promise<Pointer | undefined> {
  const found = await lake.read(pointerPath);
  return found === undefined ? undefined : pointerSchema.parse(JSON.parse(found.text));
}

/** Undefined when there is none of that snapshot. */
export async function readManifest(lake: Lake, id: string): Promise<Manifest | undefined> {
  const found = await lake.read(manifestPath(id));
  return found === undefined ? undefined : parseManifest(found.text);
}

/**
 * Lets `latest.json` name a snapshot that is complete, unless it names a newer one. Says whether it names this one now.
 * Another host may replace the pointer at the same moment; then it is looked at again.
 */
export async function movePointer(lake: Lake, manifest: Manifest): Promise<boolean> {
  const id = manifest.snapshot_id;
  for (;;) {
    const found = await lake.read(pointerPath);
    const named = found && pointerSchema.parse(JSON.parse(found.text));
    if (named?.snapshot_id === id) return true;
    const other = named && (await readManifest(lake, named.snapshot_id));
    if (other !== undefined && other.taken_at > manifest.taken_at) return false;
    const text = await lake.read(manifestPath(id));
    if (text === undefined) throw new Error(`Snapshot ${id} has no manifest.`);
    const pointer: Pointer = {
      snapshot_id: id,
      manifest: manifestPath(id),
      manifest_sha256: sha256Of(text.text),
    };
    if (await lake.replace(pointerPath, `${JSON.stringify(pointer, null, 2)}\n`, found)) return true;
  }
}
