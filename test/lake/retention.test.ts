import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keptBy, parseKeepRule } from '../../lake/keep-rule.ts';
import type { Lake } from '../../lake/lake.ts';
import { openLake } from '../../lake/open-lake.ts';
import { retireSnapshots } from '../../lake/retire-snapshots.ts';

const day = 86_400_000;
const now = new Date('2026-11-21T12:00:00Z');

test('the default keeps the newest seven, the last of thirty days, and every end of a month', () => {
  const rule = parseKeepRule('7 last, 30 daily, month-ends')!;
  expect(rule).toEqual({ last: 7, daily: 30, monthEnds: true });
  // Every six hours for 100 days.
  const ids = Array.from({ length: 400 }, (_, index) => idAt(now.getTime() - (index * day) / 4));
  const kept = [...keptBy(rule, { ids, now })].sort();
  expect(kept.slice(-7)).toEqual([...ids].sort().slice(-7));
  expect(kept.filter((id) => id.startsWith('202610'))).toEqual(
    [...range(23, 31)].map((date) => `202610${date}T180000Z-000000`),
  );
  expect(kept.filter((id) => id < '20261001')).toEqual([
    '20260831T180000Z-000000',
    '20260930T180000Z-000000',
  ]);
});

test.each(['', 'last', '7', '0 last', '7 last 30 daily', '7 weekly', '-1 last', 'month-ends, x'])(
  '"%s" is no rule',
  (text) => {
    expect(parseKeepRule(text)).toBeUndefined();
  },
);

test.each(['7 last', '30 daily', 'month-ends', '1 last,month-ends'])('"%s" is one', (text) => {
  expect(parseKeepRule(text)).toBeDefined();
});

test('a snapshot goes six hours after it was marked, its marts with it, and is never seen half removed', async () => {
  const { lake, folder } = await lakeWith(3);
  await mkdir(join(folder, 'marts', idAt(1)), { recursive: true });
  const rule = { last: 1, daily: 0, monthEnds: false };
  const at = (hours: number) =>
    retireSnapshots(lake, { rule, now: new Date(now.getTime() + hours * 3_600_000) });
  expect(await at(0)).toEqual({ removed: [] });
  expect(await at(5)).toEqual({ removed: [] });
  expect(await at(6)).toEqual({ removed: [idAt(1), idAt(2)] });
  expect(await readdir(join(folder, 'snapshots'))).toEqual([idAt(3)]);
  expect(existsSync(join(folder, 'marts', idAt(1)))).toBe(false);
  expect(await at(7)).toEqual({ removed: [] });
});

test('a snapshot that a rule keeps again is no longer marked', async () => {
  const { lake } = await lakeWith(2);
  const retire = (last: number, hours: number) =>
    retireSnapshots(lake, {
      rule: { last, daily: 0, monthEnds: false },
      now: new Date(now.getTime() + hours * 3_600_000),
    });
  await retire(1, 0);
  await retire(2, 1);
  expect(await retire(1, 8)).toEqual({ removed: [] });
});

test.each(['latest.json', 'latest-marts.json'])('what %s names always stays', async (pointer) => {
  const { lake, folder } = await lakeWith(2);
  await writeFile(join(folder, pointer), JSON.stringify({ snapshot_id: idAt(1) }));
  const rule = { last: 1, daily: 0, monthEnds: false };
  await retireSnapshots(lake, { rule, now });
  await retireSnapshots(lake, { rule, now: new Date(now.getTime() + day) });
  expect(await lake.snapshotIds()).toEqual([idAt(1), idAt(2)]);
});

async function lakeWith(count: number): Promise<{ lake: Lake; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-test-lake-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (let index = 1; index <= count; index += 1) {
    await mkdir(join(folder, 'snapshots', idAt(index)), { recursive: true });
    await writeFile(join(folder, 'snapshots', idAt(index), '_SUCCESS'), '');
  }
  return { lake: await openLake({ location: folder, scratch: folder }), folder };
}

/** Of a time since 1970; small numbers are seconds of the first minute. */
function idAt(milliseconds: number): string {
  const time = new Date(milliseconds < 60 ? milliseconds * 1000 : milliseconds);
  return `${time.toISOString().replace(/[-:]|\.\d+/g, '')}-000000`;
}

function* range(from: number, to: number): Generator<number> {
  for (let value = from; value <= to; value += 1) yield value;
}
