import { z } from 'zod';
import { sha256Text, snapshotIdText } from './checked-texts.ts';
import { LakeAltered } from './errors.ts';
import type { Found, Lake } from './lake.ts';
import { manifestSchema, sha256Of, type Manifest } from './manifest.ts';
import { readChecked } from './read-checked.ts';

/** `latest.json`: which snapshot readers are to take. `manifest` is a path relative to the lake. */
export type Pointer = z.infer<typeof pointerSchema>;

const pointerSchema = z
  .object({ snapshot_id: snapshotIdText, manifest: z.string(), manifest_sha256: sha256Text })
  .refine(({ snapshot_id: id, manifest }) => manifest === manifestPath(id), { path: ['manifest'] });

export const pointerPath = 'latest.json';

export function manifestPath(id: string): string {
  return `snapshots/${id}/_manifest.json`;
}

/** Undefined before the first snapshot. Throws LakeAltered. */
export async function readPointer(lake: Lake): Promise<Pointer | undefined> {
  return (await readChecked(lake, pointerPath, pointerSchema))?.value;
}

/** Undefined when there is none of that snapshot. Throws LakeAltered. */
export async function readManifest(lake: Lake, id: string): Promise<Manifest | undefined> {
  return (await findManifest(lake, id))?.value;
}

/** The manifest with its text, which the pointer has a hash of. Throws LakeAltered. */
export async function findManifest(
  lake: Lake,
  id: string,
): Promise<{ found: Found; value: Manifest } | undefined> {
  const read = await readChecked(lake, manifestPath(id), manifestSchema);
  if (read !== undefined && read.value.snapshot_id !== id)
    throw new LakeAltered(lake.location, manifestPath(id), ['snapshot_id']);
  return read;
}

/**
 * Lets `latest.json` name a snapshot that is complete, unless it names a newer one. Says whether it names this one now.
 * Another host may replace the pointer at the same moment; then it is looked at again.
 */
export async function movePointer(lake: Lake, manifest: Manifest): Promise<boolean> {
  const id = manifest.snapshot_id;
  for (;;) {
    const { found, value: named } = (await readChecked(lake, pointerPath, pointerSchema)) ?? {};
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
