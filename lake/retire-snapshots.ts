import { z } from 'zod';
import { instantText, snapshotIdText } from './checked-texts.ts';
import { keptBy, type KeepRule } from './keep-rule.ts';
import type { Lake } from './lake.ts';
import { readChecked } from './read-checked.ts';

/** Which snapshots are on their way out, and since when. */
const path = 'retention.json';
const schema = z.object({ expired: z.record(snapshotIdText, instantText) });

/** Who has begun to read a snapshot is done with it after this time. */
const graceMilliseconds = 6 * 3_600_000;

/**
 * Removes snapshots that no rule keeps, in two steps: first they are marked, and a later export removes what has been marked for
 * six hours. What a pointer names always stays. Says which were removed.
 */
export async function retireSnapshots(
  lake: Lake,
  { rule, now }: { rule: KeepRule; now: Date },
): Promise<{ removed: string[] }> {
  const ids = await lake.snapshotIds();
  const { found, value } = (await readChecked(lake, path, schema)) ?? {};
  const marked: Readonly<Record<string, string>> = value?.expired ?? {};
  const kept = new Set([...keptBy(rule, { ids, now }), ...(await namedByPointers(lake))]);
  const expired = ids.filter((id) => !kept.has(id));
  const removed = expired.filter((id) => isOver(marked[id], now));
  for (const id of removed) await lake.removeSnapshot(id);
  const left = expired.filter((id) => !removed.includes(id));
  const marks = Object.fromEntries(left.map((id) => [id, marked[id] ?? now.toISOString()]));
  const text = `${JSON.stringify({ expired: marks }, null, 2)}\n`;
  if (text !== found?.text && (found !== undefined || left.length > 0)) await lake.replace(path, text, found);
  return { removed };
}

function isOver(since: string | undefined, now: Date): boolean {
  return since !== undefined && now.getTime() - Date.parse(since) >= graceMilliseconds;
}

async function namedByPointers(lake: Lake): Promise<string[]> {
  const pointers = await Promise.all(
    ['latest.json', 'latest-marts.json'].map((name) => readChecked(lake, name, pointerSchema)),
  );
  return pointers.flatMap((read) => (read === undefined ? [] : [read.value.snapshot_id]));
}

const pointerSchema = z.object({ snapshot_id: snapshotIdText });
