import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { keptBy, parseKeepRule } from '../../lake/snapshots/keep-rule.ts';
import type { Lake } from '../../lake/lake.ts';
import { manifestText } from '../../lake/manifest/manifest.ts';
import { emptyManifest } from './empty-manifest.ts';
import { openLake } from '../../lake/open-lake.ts';
import { retireSnapshots } from '../../lake/snapshots/retire-snapshots.ts';
import { timeOfSnapshot } from '../../lake/manifest/snapshot-id.ts';

const day = 86_400_000;
const now = new Date('2026-11-21T12:00:00Z');

test('the default rule keeps the newest seven snapshots, the last of each of thirty days, and every month end', () => {
  const rule = parseKeepRule('7 last, 30 daily, month-ends')!;
  expect(rule).toEqual({ last: 7, daily: 30, monthEnds: true });
  // Every six hours for 100 days.
  const ids = Array.from({ length: 400 }, (_, index) => idAt(now.getTime() - (index * day) / 4));
  const snapshots = ids.map((id) => ({ id, takenAt: timeOfSnapshot(id) }));
  const kept = [...keptBy(rule, { snapshots, now })].sort();
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
  '"%s" is not a valid rule',
  (text) => {
    expect(parseKeepRule(text)).toBeUndefined();
  },
);

test.each(['7 last', '30 daily', 'month-ends', '1 last,month-ends'])('"%s" is a valid rule', (text) => {
  expect(parseKeepRule(text)).toBeDefined();
});

test('a marked snapshot is removed after six hours, together with its marts', async () => {
  const { lake, folder } = await lakeWith(3);
  await mkdir(join(folder, 'marts', idAt(1)), { recursive: true });
  const rule = { last: 1, daily: 0, monthEnds: false };
  const at = (hours: number) =>
    retireSnapshots(lake, { rule, warehouseId, now: new Date(now.getTime() + hours * 3_600_000) });
  expect(await at(0)).toEqual({ removed: [] });
  expect(await at(5)).toEqual({ removed: [] });
  expect(await at(6)).toEqual({ removed: [idAt(1), idAt(2)] });
  expect(await readdir(join(folder, 'snapshots'))).toEqual([idAt(3)]);
  expect(existsSync(join(folder, 'marts', idAt(1)))).toBe(false);
  expect(await at(7)).toEqual({ removed: [] });
});

test('a snapshot that the rule keeps again loses its mark', async () => {
  const { lake } = await lakeWith(2);
  const retire = (last: number, hours: number) =>
    retireSnapshots(lake, {
      rule: { last, daily: 0, monthEnds: false },
      warehouseId,
      now: new Date(now.getTime() + hours * 3_600_000),
    });
  await retire(1, 0);
  await retire(2, 1);
  expect(await retire(1, 8)).toEqual({ removed: [] });
});

test.each(['latest.json', 'latest-marts.json'])(
  'a snapshot that %s names is never removed',
  async (pointer) => {
    const { lake, folder } = await lakeWith(2);
    await writeFile(join(folder, pointer), JSON.stringify({ snapshot_id: idAt(1) }));
    const rule = { last: 1, daily: 0, monthEnds: false };
    await retireSnapshots(lake, { rule, warehouseId, now });
    await retireSnapshots(lake, { rule, warehouseId, now: new Date(now.getTime() + day) });
    expect(await lake.snapshotIds()).toEqual([idAt(1), idAt(2)]);
  },
);

describe('a snapshot taken long after the time in its ID', () => {
  const rule = { last: 1, daily: 0, monthEnds: true };
  const november = idAt(Date.parse('2026-11-28T09:35:37Z'));
  /** Its run began together with November's, so its ID has that time. */
  const late = november.replace('-000000', '-be87a9');
  const december = idAt(Date.parse('2026-12-15T00:00:00Z'));

  test('does not replace the month-end snapshot of the month in its ID', async () => {
    const { lake, folder } = await lakeOf([november, december]);
    await putSnapshots(folder, [late], (id) => manifestTakenAt(id, '2026-12-01T08:00:00.123456Z'));
    const retire = (instant: string) => retireSnapshots(lake, { rule, warehouseId, now: new Date(instant) });
    await retire('2026-12-16T00:00:00Z');
    expect(await retire('2026-12-16T07:00:00Z')).toEqual({ removed: [late] });
    expect(await lake.snapshotIds()).toEqual([november, december]);
  });

  test('is the newest one if no other was taken since', async () => {
    const { lake, folder } = await lakeOf([november, december]);
    await putSnapshots(folder, [late], (id) => manifestTakenAt(id, '2026-12-15T08:00:00.123456Z'));
    const retire = (instant: string) => retireSnapshots(lake, { rule, warehouseId, now: new Date(instant) });
    await retire('2026-12-16T00:00:00Z');
    expect(await retire('2026-12-16T07:00:00Z')).toEqual({ removed: [december] });
  });

  test('is kept for six hours, whatever the marks say', async () => {
    const { lake, folder } = await lakeOf([november, december]);
    await putSnapshots(folder, [late], (id) => manifestTakenAt(id, '2026-12-14T23:00:00Z'));
    await writeFile(join(folder, 'retention.json'), JSON.stringify({ expired: { [late]: longAgo } }));
    const at = new Date('2026-12-15T01:00:00Z');
    expect(await retireSnapshots(lake, { rule, warehouseId, now: at })).toEqual({ removed: [] });
  });
});

const everyHour = Array.from({ length: 18 }, (_, index) => idAt(now.getTime() - (index + 1) * 3_600_000));
const longAgo = '2026-01-01T00:00:00.000Z';

test.each<[string, (folder: string) => Promise<void>]>([
  [
    'of years to come, from a clock that was ahead',
    (folder) => putSnapshots(folder, idsAfter('2028-01-01T00:00:00Z'), manifestOf),
  ],
  ['of the year 9999', (folder) => putSnapshots(folder, idsAfter('9999-12-31T23:00:00Z'), manifestOf)],
  [
    'that say they were taken in years to come',
    (folder) =>
      putSnapshots(folder, idsAfter('2026-11-21T11:59:00Z'), (id) =>
        manifestTakenAt(id, '2028-01-01T00:00:00Z'),
      ),
  ],
  ['without a manifest', (folder) => putSnapshots(folder, idsAfter('2026-11-21T11:59:00Z'), () => undefined)],
  [
    'whose manifest cannot be read',
    (folder) => putSnapshots(folder, idsAfter('2026-11-21T11:59:00Z'), () => '{'),
  ],
  [
    'of another warehouse',
    (folder) =>
      putSnapshots(folder, idsAfter('2026-11-21T11:59:00Z'), (id) => manifestOf(id, 'another-warehouse')),
  ],
])('snapshots %s displace none of ours, and are left alone', async (_, put) => {
  const { lake, folder } = await lakeOf(everyHour);
  await put(folder);
  const before = await lake.snapshotIds();
  const marked = Object.fromEntries(before.map((id) => [id, longAgo]));
  await writeFile(join(folder, 'retention.json'), JSON.stringify({ expired: marked }));
  const rule = { last: 18, daily: 0, monthEnds: false };
  expect(await retireSnapshots(lake, { rule, warehouseId, now })).toEqual({ removed: [] });
  expect(await lake.snapshotIds()).toEqual(before);
  expect(await marksIn(folder)).toEqual({});
});

test('an old mark does not remove a snapshot that the rule kept until less than six hours ago', async () => {
  const { lake, folder } = await lakeOf(everyHour);
  const marked = Object.fromEntries(everyHour.map((id) => [id, longAgo]));
  await writeFile(join(folder, 'retention.json'), JSON.stringify({ expired: marked }));
  const { removed } = await retireSnapshots(lake, {
    rule: { last: 2, daily: 0, monthEnds: false },
    warehouseId,
    now,
  });
  // Snapshots published within six hours stay, and so do the two newest before.
  expect(removed).toEqual([...everyHour.slice(7)].sort());
});

test('a mark with a time in the future is set to the present', async () => {
  const { lake, folder } = await lakeWith(2);
  const rule = { last: 1, daily: 0, monthEnds: false };
  await writeFile(
    join(folder, 'retention.json'),
    JSON.stringify({ expired: { [idAt(1)]: '9999-01-01T00:00:00.000Z' } }),
  );
  await retireSnapshots(lake, { rule, warehouseId, now });
  expect(await marksIn(folder)).toEqual({ [idAt(1)]: now.toISOString() });
});

const warehouseId = 'the-warehouse';

function lakeWith(count: number): Promise<{ lake: Lake; folder: string }> {
  return lakeOf(Array.from({ length: count }, (_, index) => idAt(index + 1)));
}

async function lakeOf(ids: readonly string[]): Promise<{ lake: Lake; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-test-lake-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await putSnapshots(folder, ids, manifestOf);
  return { lake: await openLake({ location: folder, scratch: folder }), folder };
}

async function putSnapshots(
  folder: string,
  ids: readonly string[],
  manifest: (id: string) => string | undefined,
): Promise<void> {
  for (const id of ids) {
    const snapshot = join(folder, 'snapshots', id);
    await mkdir(snapshot, { recursive: true });
    const text = manifest(id);
    if (text !== undefined) await writeFile(join(snapshot, '_manifest.json'), text);
    await writeFile(join(snapshot, '_SUCCESS'), '');
  }
}

function manifestOf(id: string, warehouse = warehouseId): string {
  return manifestText(emptyManifest(id, warehouse));
}

function manifestTakenAt(id: string, takenAt: string): string {
  return manifestText({ ...emptyManifest(id, warehouseId), taken_at: takenAt });
}

async function marksIn(folder: string): Promise<unknown> {
  const text = await readFile(join(folder, 'retention.json'), 'utf8');
  return (JSON.parse(text) as { expired: unknown }).expired;
}

/** Ids a second apart. */
function idsAfter(instant: string): string[] {
  return Array.from({ length: 18 }, (_, index) => idAt(Date.parse(instant) + (index + 1) * 1_000));
}

/** The id for a time since 1970. Small numbers are seconds of the first minute. */
function idAt(milliseconds: number): string {
  const time = new Date(milliseconds < 60 ? milliseconds * 1000 : milliseconds);
  return `${time.toISOString().replace(/[-:]|\.\d+/g, '')}-000000`;
}

function* range(from: number, to: number): Generator<number> {
  for (let value = from; value <= to; value += 1) yield value;
}
