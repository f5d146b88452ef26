import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { sha256Text, snapshotIdText } from './checked-texts.ts';
import { LakeAltered, LakeRefused } from '../errors.ts';
import type { AssertHeld, Found, Lake } from '../lake.ts';
import { manifestSchema, sha256Of, type Manifest } from './manifest.ts';
import { look, unaltered, type Checked } from './read-checked.ts';
import { isFarAhead, timeOfSnapshot } from './snapshot-id.ts';

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
  return unaltered(await lookAtPointer(lake))?.value;
}

/** Undefined before the first snapshot. */
export function lookAtPointer(lake: Lake): Promise<Checked<Pointer> | undefined> {
  return look(lake, pointerPath, pointerSchema);
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
  return unaltered(await lookAtManifest(lake, id));
}

/** Undefined when there is none of that snapshot. */
export async function lookAtManifest(lake: Lake, id: string): Promise<Checked<Manifest> | undefined> {
  const seen = await look(lake, manifestPath(id), manifestSchema);
  if (seen?.value === undefined || seen.value.snapshot_id === id) return seen;
  return { found: seen.found, altered: new LakeAltered(lake.location, manifestPath(id), ['snapshot_id']) };
}

/**
 * Lets `latest.json` name a snapshot that is complete, unless it names a newer one. Says whether it names this one now. Where the
 * manifest of the other is altered, its ID says when it was begun; a pointer that is altered, or names one of the day after tomorrow or
 * one that is not there, is replaced. Another host may replace the pointer at the same moment; then it is looked at again. Who has lost the
 * lock since it was looked at does not replace it. Throws LakeRefused when it is another one each time.
 */
export async function movePointer(lake: Lake, manifest: Manifest, assertHeld: AssertHeld): Promise<boolean> {
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
    await assertHeld();
    if (await lake.replace(pointerPath, `${JSON.stringify(pointer, null, 2)}\n`, seen?.found)) return true;
    await wait(round * 20);
  }
  throw neverTheSame(lake, pointerPath);
}

const mostRounds = 10;

/** A proxy that changes the versions of files, for one, lets no file be what it was. */
export function neverTheSame({ location }: Lake, path: string): LakeRefused {
  return new LakeRefused(location, `${path} is another one whenever it is to be replaced (If-Match)`);
}

/**
 * Whether readers stay with the snapshot that they are led to: its rows are newer. The ID tells only when a run began, and one that was reset
 * publishes rows of today under the time it began; it decides where a manifest is altered.
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
