import { z } from 'zod';
import { PointerDamaged } from './errors.ts';
import type { Lake } from './lake.ts';
import { manifestIn, parseManifest, sha256Of, type Manifest } from './manifest.ts';

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

/** Undefined before the first snapshot. Throws PointerDamaged. */
export async function readPointer(lake: Lake): Promise<Pointer | undefined> {
  const found = await lake.read(pointerPath);
  if (found === undefined) return undefined;
  const pointer = pointerIn(found.text);
  if (pointer === undefined) throw new PointerDamaged(lake.location);
  return pointer;
}

/** Undefined when the text is no pointer. */
export function pointerIn(text: string): Pointer | undefined {
  try {
    return pointerSchema.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return undefined;
    throw error;
  }
}

/** Undefined when there is none of that snapshot. */
export async function readManifest(lake: Lake, id: string): Promise<Manifest | undefined> {
  const found = await lake.read(manifestPath(id));
  return found === undefined ? undefined : parseManifest(found.text);
}

/**
 * Lets `latest.json` name a snapshot that is complete, unless it names a newer one. Says whether it names this one now. Where the
 * manifest of the other cannot be read, its ID says when it was begun; a pointer that cannot be read is replaced. Another host may replace the pointer at the same moment; then it is looked at again.
 */
export async function movePointer(lake: Lake, manifest: Manifest): Promise<boolean> {
  const id = manifest.snapshot_id;
  for (;;) {
    const found = await lake.read(pointerPath);
    const named = found && pointerIn(found.text);
    if (named?.snapshot_id === id) return true;
    const other = named && (await lake.read(manifestPath(named.snapshot_id)));
    const takenAt = other && manifestIn(other.text)?.taken_at;
    const isNewer = takenAt === undefined ? (named?.snapshot_id ?? '') > id : takenAt > manifest.taken_at;
    if (isNewer) return false;
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
