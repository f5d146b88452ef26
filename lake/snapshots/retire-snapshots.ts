import * as z from 'zod';
import { instantText, snapshotIdText } from '../manifest/checked-texts.ts';
import { keptBack, type LakeKeeps } from '../errors.ts';
import { keptBy, type Dated, type KeepRule } from './keep-rule.ts';
import type { Lake } from '../lake.ts';
import { mapConcurrently } from '../map-concurrently.ts';
import { lookAtManifest } from '../manifest/pointer.ts';
import { readChecked } from '../manifest/read-checked.ts';
import { isFarAhead, timeOfSnapshot } from '../manifest/snapshot-id.ts';

/** Which snapshots are on their way out, and since when. */
const path = 'retention.json';
const schema = z.object({ expired: z.record(snapshotIdText, instantText) });

/** Who has begun to read a snapshot is done with it after this time. */
const graceMilliseconds = 6 * 3_600_000;

/**
 * Removes snapshots that no rule keeps, in two steps: first they are marked, and a later export removes what has been marked for
 * six hours. What a pointer names always stays. What is no snapshot of this warehouse is neither counted nor removed. Says which were
 * removed, and of those that storage keeps, why: one that somebody has locked does not hold up the others.
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
    /** What is done beside it, too. */
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
  const marks = Object.fromEntries(left.map((id) => [id, markOf(marked[id], now)]));
  const text = `${JSON.stringify({ expired: marks }, null, 2)}\n`;
  if (text !== found?.text && (found !== undefined || left.length > 0)) await lake.replace(path, text, found);
  return problem === undefined ? { removed } : { removed, problem };
}

/**
 * The snapshots that fill places of the rule. A clock that was ahead, or whoever may write to the lake, makes others of any time: counted,
 * they would push every later one out.
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
 * What the rule still kept six hours ago, or was not there yet, whatever its mark says: whoever may write to the lake may write any mark, and
 * who reads a snapshot has this time.
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

/** One of a time to come is from a clock that was ahead, or from somebody else: it would keep its snapshot until then. */
function markOf(since: string | undefined, now: Date): string {
  return since !== undefined && Date.parse(since) <= now.getTime() ? since : now.toISOString();
}

async function namedByPointers(lake: Lake): Promise<string[]> {
  const pointers = await Promise.all(
    ['latest.json', 'latest-marts.json'].map((name) => readChecked(lake, name, pointerSchema)),
  );
  return pointers.flatMap((read) => (read === undefined ? [] : [read.value.snapshot_id]));
}

const pointerSchema = z.object({ snapshot_id: snapshotIdText });
