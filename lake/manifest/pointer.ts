import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { sha256Text, snapshotIdText } from './checked-texts.ts';
import { LakeAltered, LakeRefused } from '../errors.ts';
import type { Found, Lake } from '../lake.ts';
import { manifestSchema, sha256Of, type Manifest } from './manifest.ts';
import { look, unaltered, type Checked } from './read-checked.ts';
import { isFarAhead, timeOfSnapshot } from './snapshot-id.ts';

/** `latest.json`, which names the snapshot for readers. `manifest` is a path relative to the lake. */
export type Pointer = z.infer<typeof pointerSchema>;

const pointerSchema = z
  .object({ snapshot_id: snapshotIdText, manifest: z.string(), manifest_sha256: sha256Text })
  .refine(({ snapshot_id: id, manifest }) => manifest === manifestPath(id), { path: ['manifest'] });

export const pointerPath = 'latest.json';

export function manifestPath(id: string): string {
  return `snapshots/${id}/_manifest.json`;
}

/** Reads the pointer; undefined before the first snapshot. Throws LakeAltered. */
export async function readPointer(lake: Lake): Promise<Pointer | undefined> {
  return unaltered(await lookAtPointer(lake))?.value;
}

/** Reads the pointer without throwing if it is altered; undefined before the first snapshot. */
export function lookAtPointer(lake: Lake): Promise<Checked<Pointer> | undefined> {
  return look(lake, pointerPath, pointerSchema);
}

/** Reads a snapshot's manifest; undefined if there is none. Throws LakeAltered. */
export async function readManifest(lake: Lake, id: string): Promise<Manifest | undefined> {
  return (await findManifest(lake, id))?.value;
}

/** Reads the manifest with its text, whose hash is in the pointer. Throws LakeAltered. */
export async function findManifest(
  lake: Lake,
  id: string,
): Promise<{ found: Found; value: Manifest } | undefined> {
  return unaltered(await lookAtManifest(lake, id));
}

/** Reads a snapshot's manifest without throwing if it is altered; undefined if there is none. */
export async function lookAtManifest(lake: Lake, id: string): Promise<Checked<Manifest> | undefined> {
  const seen = await look(lake, manifestPath(id), manifestSchema);
  if (seen?.value === undefined || seen.value.snapshot_id === id) return seen;
  return { found: seen.found, altered: new LakeAltered(lake.location, manifestPath(id), ['snapshot_id']) };
}

/**
 * Makes `latest.json` name a complete snapshot, unless it names a newer one. Returns whether it names this snapshot now. If the other manifest
 * is altered, the time in its ID counts. A pointer is replaced if it is altered, or names a snapshot that is missing or more than a day in the
 * future. If another host replaces the pointer at the same moment, it is read again. A writer that has lost the lock does not replace it. Throws
 * LakeRefused if the pointer differs each time.
 */
export async function movePointer(lake: Lake, manifest: Manifest): Promise<boolean> {
  const id = manifest.snapshot_id;
  for (let round = 1; round <= mostRounds; round += 1) {
    const seen = await lookAtPointer(lake);
    const named = seen?.value?.snapshot_id;
    if (named === id) return true;
    if (named !== undefined && (await keepsReaders(lake, named, manifest))) return false;
    const text = await lake.read(manifestPath(id));
    if (text === undefined || text.refused !== undefined) throw new Error(`Snapshot ${id} has no manifest.`);
    const pointer: Pointer = {
      snapshot_id: id,
      manifest: manifestPath(id),
      manifest_sha256: sha256Of(text.text),
    };
    await lake.assertHeld();
    if (await lake.replace(pointerPath, `${JSON.stringify(pointer, null, 2)}\n`, seen?.found)) return true;
    await wait(round * 20);
  }
  throw neverTheSame(lake, pointerPath);
}

const mostRounds = 10;

/** For example, a proxy that changes the versions of files makes each of them look altered. */
export function neverTheSame({ location }: Lake, path: string): LakeRefused {
  return new LakeRefused(location, `${path} is another one whenever it is to be replaced`);
}

/**
 * Whether readers stay with the snapshot that the pointer names, because its rows are newer. The ID tells only when a run began, and a run that
 * was reset publishes rows of today under its first begin; the ID decides only if a manifest is altered.
 */
export async function keepsReaders(
  lake: Lake,
  named: string,
  { snapshot_id: id, taken_at }: Pick<Manifest, 'snapshot_id' | 'taken_at'>,
): Promise<boolean> {
  const seen = await lookAtManifest(lake, named);
  if (seen === undefined) return false;
  const takenAt = seen.value?.taken_at;
  if (takenAt === undefined) {
    const time = timeOfSnapshot(named);
    return time > timeOfSnapshot(id) && !isFarAhead(time);
  }
  return takenAt > taken_at && !isFarAhead(Date.parse(takenAt));
}
