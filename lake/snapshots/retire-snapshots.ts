import * as z from 'zod';
import { instantText, snapshotIdText } from '../manifest/checked-texts.ts';
import { keptBack, type LakeKeeps } from '../errors.ts';
import { keptBy, type Dated, type KeepRule } from './keep-rule.ts';
import type { Lake } from '../lake.ts';
import { mapConcurrently } from '../map-concurrently.ts';
import { lookAtManifest } from '../manifest/pointer.ts';
import { readChecked } from '../manifest/read-checked.ts';
import { isFarAhead, timeOfSnapshot } from '../manifest/snapshot-id.ts';

/** The file that lists the snapshots marked for removal, and since when. */
const path = 'retention.json';
const schema = z.object({ expired: z.record(snapshotIdText, instantText) });

/** Readers have this time to finish with a snapshot. */
const graceMilliseconds = 6 * 3_600_000;

/**
 * Removes snapshots that no rule keeps, in two steps: first they are marked, and a later export removes snapshots that have been marked for six
 * hours. A snapshot that a pointer names always stays. Snapshots of other warehouses are neither counted nor removed. Returns the removed
 * ones, and why storage refused to remove others; a locked one does not hold up the rest.
 */
export async function retireSnapshots(
  lake: Lake,
  {
    rule,
    warehouseId,
    now,
    remove = (id) => lake.removeSnapshot(id),
  }: {
    rule: KeepRule;
    warehouseId: string;
    now: Date;
    /** Removes a snapshot, possibly with further steps. */
    remove?: (id: string) => Promise<void>;
  },
): Promise<{ removed: string[]; problem?: LakeKeeps }> {
  const snapshots = await ownSnapshots(lake, { warehouseId, now });
  const { found, value } = (await readChecked(lake, path, schema)) ?? {};
  const marked: Readonly<Record<string, string>> = value?.expired ?? {};
  const kept = new Set([...keptBy(rule, { snapshots, now }), ...(await namedByPointers(lake))]);
  const lately = keptUntilLately(rule, { snapshots, now });
  const expired = snapshots.map(({ id }) => id).filter((id) => !kept.has(id));
  const removed: string[] = [];
  let problem: LakeKeeps | undefined;
  for (const id of expired.filter((one) => isOver(marked[one], now) && !lately.has(one))) {
    const refusal = await keptBack(() => remove(id));
    if (refusal === undefined) removed.push(id);
    problem ??= refusal;
  }
  const left = expired.filter((id) => !removed.includes(id));
  const marks = Object.fromEntries(left.map((id) => [id, validMark(marked[id], now)]));
  const text = `${JSON.stringify({ expired: marks }, null, 2)}\n`;
  if (text !== found?.text && (found !== undefined || left.length > 0)) await lake.replace(path, text, found);
  return problem === undefined ? { removed } : { removed, problem };
}

/**
 * The snapshots that fill places of the rule. A clock that was ahead, or anyone with write access to the lake, can make others of any time: if
 * they counted, they would push every later one out.
 */
async function ownSnapshots(
  lake: Lake,
  { warehouseId, now }: { warehouseId: string; now: Date },
): Promise<Dated[]> {
  const isNear = (milliseconds: number): boolean => !isFarAhead(milliseconds, now.getTime());
  const ids = (await lake.snapshotIds()).filter((id) => isNear(timeOfSnapshot(id)));
  const seen = await mapConcurrently(manifestsAtOnce, ids, async (id) => {
    const manifest = (await lookAtManifest(lake, id))?.value;
    return manifest?.warehouse_id === warehouseId ? [{ id, takenAt: Date.parse(manifest.taken_at) }] : [];
  });
  return seen.flat().filter(({ takenAt }) => isNear(takenAt));
}

/** Each may have 64 MB. */
const manifestsAtOnce = 4;

/**
 * Returns the snapshots that the rule still kept six hours ago, or that did not exist then, whatever their mark says: anyone with write access to
 * the lake can write any mark, and readers of a snapshot have this time.
 */
function keptUntilLately(
  rule: KeepRule,
  { snapshots, now }: { snapshots: readonly Dated[]; now: Date },
): Set<string> {
  const then = new Date(now.getTime() - graceMilliseconds);
  const before = snapshots.filter(({ takenAt }) => takenAt <= then.getTime());
  const since = snapshots.filter(({ takenAt }) => takenAt > then.getTime());
  return new Set([...keptBy(rule, { snapshots: before, now: then }), ...since.map(({ id }) => id)]);
}

function isOver(since: string | undefined, now: Date): boolean {
  return since !== undefined && now.getTime() - Date.parse(since) >= graceMilliseconds;
}

/** A mark with a future time is from a clock that was ahead, or from somebody else: it would keep its snapshot until then. */
function validMark(since: string | undefined, now: Date): string {
  return since !== undefined && Date.parse(since) <= now.getTime() ? since : now.toISOString();
}

async function namedByPointers(lake: Lake): Promise<string[]> {
  const pointers = await Promise.all(
    ['latest.json', 'latest-marts.json'].map((name) => readChecked(lake, name, pointerSchema)),
  );
  return pointers.flatMap((read) => (read === undefined ? [] : [read.value.snapshot_id]));
}

const pointerSchema = z.object({ snapshot_id: snapshotIdText });
