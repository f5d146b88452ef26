import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { beforeEach, expect, test } from 'vitest';
import { sha256Of } from '../../lake/manifest/manifest.ts';
import { startAnsweringProxy } from '../lake/answering-proxy.ts';
import { createTestLake } from '../lake/create-test-lake.ts';
import { startS3Server } from '../lake/s3-server.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';

const { connect, run, warehouse, databaseUrl, cwd } = await createInstallation({
  commandsInOneProcess: true,
});
const { exportNow } = await createTestLake(databaseUrl);
const s3 = await startS3Server();
let connection: string;
let one: string;
let two: string;
let snapshot: string;
let places = 0;

beforeEach(async () => {
  await warehouse.pool.query('delete from sync.snapshots');
  connection = await connect();
  // The source has never had the record, so it may be erased.
  const page = [bill('to-erase', { memo: '"planted"' }), bill('stays')];
  await land(warehouse, { connectionId: connection, stream: 'bills', pages: [page] });
  places += 1;
  one = join(cwd, `lake-${places}-one`);
  two = join(cwd, `lake-${places}-two`);
  await mkdir(one, { mode: 0o700 });
  snapshot = (await exportNow({ lake: one, force: true })).snapshotId;
});

test('an erasure names the snapshots in lakes that it has not searched, and is complete once every lake was searched', async () => {
  const elsewhere = await eraseIn(two);
  expect(elsewhere.stdout).toContain(
    `Snapshots ${snapshot} in ${one} were not searched and may hold the record.`,
  );
  expect(elsewhere.stdout).toContain(`DAYBOOK_LAKE=${one}`);
  expect(elsewhere.stdout).not.toContain('Erased bills to-erase');
  expect(elsewhere.code).toBe(1);
  expect(
    await row(warehouse, `select status from sync.runs where kind = 'erase' and connection_id = $1`, [
      connection,
    ]),
  ).toEqual({ status: 'failed' });

  const there = await eraseIn(one);
  expect(there.stdout).toMatch(new RegExp(`snapshot ${snapshot}, now \\S+ +2 +0$`, 'm'));
  expect(there.stdout).toContain('Erased bills to-erase');
  expect([there.code, there.stderr]).toEqual([0, expect.anything()]);
  expect((await eraseIn(two)).code).toBe(0);
});

test('a snapshot republished by the next attempt of a killed export is known, even if an erasure ran in between', async () => {
  const { run_id: runId } = await row(warehouse, 'select run_id from sync.snapshots');
  expect((await eraseIn(one)).code).toBe(0);
  await exportNow({ lake: one, force: true, runId: String(runId), snapshotId: snapshot });
  const { code, stdout } = await run(['erase', connection, 'bills', 'stays'], {
    env: { DAYBOOK_LAKE: one },
  });
  expect(stdout).toMatch(new RegExp(`snapshot ${snapshot}, now \\S+ +2 +0$`, 'm'));
  expect(code).toBe(0);
});

test('an erasure in a copy of a lake still names the snapshots of the original lake', async () => {
  await cp(one, two, { recursive: true });
  for (const [first, second] of some([
    [two, one],
    [one, two],
  ] as const)) {
    await eraseIn(first);
    expect((await eraseIn(second)).code).toBe(0);
    const { code, stdout } = await run(['erase', connection, 'bills', `not-in-${basename(first)}`], {
      env: { DAYBOOK_LAKE: second },
    });
    expect(stdout).toMatch(/^ {2}Snapshots /m);
    expect(stdout).toContain(` in ${first} were not searched and may hold the record.`);
    expect(code).toBe(1);
    // The same with the roles of the lakes exchanged.
    for (const lake of [one, two]) await rm(lake, { recursive: true });
    await warehouse.pool.query('delete from sync.snapshots');
    const later = { memo: '"planted"', last_synced_at: '"2030-01-01T00:00:00Z"' };
    await land(warehouse, { connectionId: connection, stream: 'bills', pages: [[bill('to-erase', later)]] });
    await exportNow({ lake: one, force: true });
    await cp(one, two, { recursive: true });
  }
});

proofTest('an erasure still names the snapshots of the other lake if marts were built there', async () => {
  await warehouse.pool.query(
    `insert into sync.marts (target, run_id, as_of_date, marts, begun_at) values ('lake', 'built', '2026-01-01', 24, now())`,
  );
  const { code, stdout } = await eraseIn(two);
  await warehouse.pool.query('delete from sync.marts');
  expect(stdout).toContain(` in ${one} were not searched and may hold the record.`);
  expect(code).toBe(1);
});

test('a lake counts as searched until the record is in the tables again', async () => {
  expect((await eraseIn(one)).code).toBe(0);
  const later = bill('to-erase', { memo: '"planted again"', last_synced_at: '"2030-01-01T00:00:00Z"' });
  await land(warehouse, { connectionId: connection, stream: 'bills', pages: [[later]] });
  const held = `select id from finance.bills where connection_id = $1 and id = 'to-erase'`;
  expect(await rows(warehouse, held, [connection])).toHaveLength(1);
  await exportNow({ lake: one, force: true });
  const { code, stdout } = await eraseIn(two);
  expect(stdout).toContain(` in ${one} were not searched and may hold the record.`);
  expect(code).toBe(1);
});

test('an erasure names snapshots published in this lake that are missing, until "snapshots forget" confirms that they are gone', async () => {
  await rename(one, `${one}-away`);
  const { code, stdout } = await eraseIn(one);
  expect(stdout).toContain(`Snapshots ${snapshot} were published in ${one}, and are not there now.`);
  expect(stdout).not.toContain('Erased bills to-erase');
  expect(code).toBe(1);
  expect(await forget(one, { in: one })).toMatchObject({
    code: 0,
    stdout: `Forgot 1 snapshot of ${one}.\n`,
  });
  expect((await eraseIn(one)).code).toBe(0);
});

test('an incomplete snapshot is named and cannot be forgotten', async () => {
  await rm(join(one, 'snapshots', snapshot, '_SUCCESS'));
  const { code, stdout } = await eraseIn(one);
  expect(stdout).toContain(
    `Snapshots ${snapshot} in ${one} lack their _SUCCESS, so they were not searched and may hold the record.`,
  );
  expect(code).toBe(1);
  for (const lake of [one, two]) {
    const refused = await forget(one, { in: lake });
    expect(refused.stderr).toContain(`${one} still has 1 of these snapshots, such as ${snapshot}`);
    expect(refused.code).toBe(1);
  }
  await writeFile(join(one, 'snapshots', snapshot, '_SUCCESS'), '');
  expect((await eraseIn(one)).code).toBe(0);
  expect(await readdir(join(one, 'snapshots'))).not.toContain(snapshot);
});

test('an erasure removes marts of snapshots that were deleted by hand, even if Postgres does not know them', async () => {
  for (const isKnown of [true, false]) {
    if (isKnown)
      await warehouse.pool.query(
        `insert into sync.marts (target, run_id, as_of_date, marts, begun_at) values ('lake', 'built', '2026-01-01', 24, now())`,
      );
    const marts = join(one, 'marts', snapshot, 'bills');
    await mkdir(marts, { recursive: true });
    await writeFile(join(marts, 'part-00000.parquet'), 'planted');
    await writeFile(join(one, 'latest-marts.json'), JSON.stringify({ snapshot_id: snapshot }));
    await rm(join(one, 'snapshots'), { recursive: true, force: true });
    await rm(join(one, 'latest.json'), { force: true });
    if (isKnown) expect((await forget(one, { in: one })).code).toBe(0);
    const { code, stderr } = await eraseIn(one);
    expect(stderr).toContain('the marts on the lake are removed');
    expect(code).toBe(0);
    expect(await readdir(one)).not.toEqual(expect.arrayContaining([expect.stringContaining('marts')]));
    expect(await rows(warehouse, 'select from sync.marts')).toEqual([]);
  }
});

test("an erasure that removes the marts on the lake leaves other people's files beside them", async () => {
  await plantMarts(one, snapshot);
  await mkdir(join(one, 'marts/theirs'));
  await writeFile(join(one, 'marts/theirs/x.parquet'), 'theirs');
  const { code, stderr } = await eraseIn(one);
  expect(stderr).toContain('the marts on the lake are removed');
  expect(code).toBe(0);
  expect(await readdir(join(one, 'marts'), { recursive: true })).toEqual(['theirs', 'theirs/x.parquet']);
  expect(await readdir(one)).not.toContain('latest-marts.json');
});

test("an erasure in a folder that is not Daybook's lake removes no marts there, and names them", async () => {
  await plantMarts(two, snapshot);
  const spark = join(two, 'iceberg/marts_spark/bills/data');
  await mkdir(spark, { recursive: true });
  await writeFile(join(spark, 'x.parquet'), 'theirs');
  await warehouse.pool.query(
    `insert into sync.marts (target, run_id, as_of_date, marts, begun_at) values ('lake', 'built', '2026-01-01', 24, now())`,
  );
  const { code, stdout } = await eraseIn(two);
  await warehouse.pool.query('delete from sync.marts');
  expect(stdout).toContain(`The files below marts of the lake ${two} were not searched`);
  expect(stdout).toContain(`The files below iceberg/marts_spark of the lake ${two} were not searched`);
  expect(code).toBe(1);
  expect(await readdir(two)).toContain('latest-marts.json');
  expect(await readdir(join(two, 'marts', snapshot, 'bills'))).toEqual(['part-00000.parquet']);
  expect(await readdir(spark)).toEqual(['x.parquet']);
});

proofTest(
  'marts of a newer snapshot that was deleted by hand give way to those that the erasure builds',
  async () => {
    await exportNow({ lake: one, force: true });
    const [, newest = ''] = (await readdir(join(one, 'snapshots'))).sort();
    await plantMarts(one, newest);
    await rm(join(one, 'snapshots', newest), { recursive: true });
    expect((await forget(one, { in: one })).code).toBe(0);
    await warehouse.pool.query(
      `insert into sync.marts (target, run_id, as_of_date, marts, begun_at) values ('lake', 'built', '2026-01-01', 24, now())`,
    );
    const { code, stderr } = await eraseIn(one);
    await warehouse.pool.query('delete from sync.marts');
    expect([code, stderr]).toEqual([0, expect.anything()]);
    const named = async (pointer: string): Promise<string> => {
      const text = await readFile(join(one, pointer), 'utf8');
      return (JSON.parse(text) as { snapshot_id: string }).snapshot_id;
    };
    expect(await readdir(join(one, 'marts'))).toEqual([await named('latest.json')]);
    expect(await named('latest-marts.json')).toBe(await named('latest.json'));
  },
);

test('an erasure does not point readers to a snapshot dated years ahead', async () => {
  const ahead = `20280101T000000Z-${snapshot.slice(-6)}`;
  await rename(join(one, 'snapshots', snapshot), join(one, 'snapshots', ahead));
  const file = join(one, 'snapshots', ahead, '_manifest.json');
  const manifest = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  const changed = JSON.stringify({
    ...manifest,
    snapshot_id: ahead,
    taken_at: '2028-01-01T00:00:00.000001Z',
  });
  await writeFile(file, changed);
  await warehouse.pool.query('update sync.snapshots set snapshot_id = $1, manifest_sha256 = $2', [
    ahead,
    sha256Of(changed),
  ]);
  const { snapshotId } = await exportNow({ lake: one, force: true });
  const { code, stdout, stderr } = await eraseIn(one);
  expect([code, stderr]).toEqual([0, expect.anything()]);
  for (const id of [ahead, snapshotId])
    expect(stdout).toMatch(new RegExp(`snapshot ${id}, now \\S+ +2 +0$`, 'm'));
  const latest = await readFile(join(one, 'latest.json'), 'utf8');
  expect(latest).toContain(`"snapshot_id": "${snapshotId.slice(0, 16)}`);
});

test('snapshots are not forgotten while they exist, and are forgotten once the lake has moved', async () => {
  const refused = await forget(one, { in: two });
  expect(refused.stderr).toContain(`${one} still has 1 of these snapshots, such as ${snapshot}`);
  expect(refused.code).toBe(1);
  await rename(one, two);
  expect((await eraseIn(two)).code).toBe(1);
  const forgotten = await forget(one, { in: two, more: ['--json'] });
  const { gone, moved } = JSON.parse(forgotten.stdout) as { gone: string[]; moved: string[] };
  // The erasure has replaced the snapshot in the new place.
  expect({ gone, moved }).toEqual({ gone: [snapshot], moved: [] });
  expect((await eraseIn(two)).code).toBe(0);
});

test('snapshots are not forgotten while marts, Iceberg tables or half a snapshot are in their old place', async () => {
  await cp(one, two, { recursive: true });
  await rm(join(one, 'snapshots'), { recursive: true });
  for (const folder of ['marts', 'iceberg', 'snapshots']) {
    // In `snapshots`, as a killed erasure leaves it.
    await mkdir(join(one, folder, `.tmp-${snapshot}`), { recursive: true });
    await writeFile(join(one, folder, `.tmp-${snapshot}`, 'part-00000.parquet'), 'planted');
    const refused = await forget(one, { in: two });
    expect(refused.stderr).toContain(
      `${one} still has files below ${folder}, which may hold content of these`,
    );
    expect(refused.code).toBe(1);
    await rm(join(one, folder), { recursive: true });
  }
  expect((await forget(one, { in: two })).code).toBe(0);
});

proofTest(
  `"snapshots forget" refuses while this lake's copy lacks its empty files, and records the copy once they are there`,
  async () => {
    await cp(one, two, { recursive: true });
    await rm(join(two, 'snapshots', snapshot, '_SUCCESS'));
    await rm(one, { recursive: true });
    const { code, stderr } = await forget(one, { in: two });
    expect(stderr).toContain(`${two} still has 1 of these snapshots, such as ${snapshot}`);
    expect(code).toBe(1);
    await writeFile(join(two, 'snapshots', snapshot, '_SUCCESS'), '');
    expect((await forget(one, { in: two })).stdout).toContain('1 snapshot is now recorded in this lake.');
  },
);

proofTest(
  'an erasure on object storage keeps incomplete snapshots, wherever they were published',
  async () => {
    const made = await exportNow({ lake: s3.location, force: true });
    const { Contents = [] } = await s3.client.send(new ListObjectsV2Command({ Bucket: s3.bucket }));
    for (const { Key = '', Size } of Contents)
      if (Size !== 0)
        await s3.client.send(
          new CopyObjectCommand({ Bucket: s3.bucket, CopySource: `${s3.bucket}/${Key}`, Key: `copy/${Key}` }),
        );
    const inCopy = async (): Promise<number | undefined> =>
      (await s3.client.send(new ListObjectsV2Command({ Bucket: s3.bucket, Prefix: 'copy/' }))).KeyCount;
    const copied = await inCopy();
    const copy = { ...s3.env, DAYBOOK_LAKE: s3.location.replace('/some/', '/copy/some/') };
    await run(['erase', connection, 'bills', 'to-erase'], { env: copy });
    expect(await inCopy()).toBe(copied);

    const key = `some/prefix/snapshots/${made.snapshotId}/_SUCCESS`;
    await s3.client.send(new DeleteObjectCommand({ Bucket: s3.bucket, Key: key }));
    const env = { ...s3.env, DAYBOOK_LAKE: s3.location };
    const { code, stdout } = await run(['erase', connection, 'bills', 'to-erase'], { env });
    expect(stdout).toContain(`Snapshots ${made.snapshotId} in ${s3.location} lack their _SUCCESS`);
    expect(code).toBe(1);
    // The same holds if Postgres was restored to a time before the snapshot, because readers are led to it.
    await warehouse.pool.query('delete from sync.snapshots');
    const unknown = await run(['erase', connection, 'bills', 'to-erase'], { env });
    expect(unknown.stdout).toContain(`Snapshots ${made.snapshotId} in ${s3.location} lack their _SUCCESS`);
    await exportNow({ lake: s3.location, force: true });
    await s3.client.send(new PutObjectCommand({ Bucket: s3.bucket, Key: key, Body: '' }));
    const again = await run(['erase', connection, 'bills', 'to-erase'], { env });
    expect(again.stdout).toMatch(new RegExp(`snapshot ${made.snapshotId}, now \\S+ +2 +0$`, 'm'));
    expect(again.stdout).not.toContain(s3.location);
  },
);

test("an erasure in a bucket that is not Daybook's lake removes no snapshot that lacks its _SUCCESS, and names it", async () => {
  const theirs = '20260101T000000Z-aaaaaa';
  const Key = `theirs/snapshots/${theirs}/bills/part-00000.parquet`;
  await s3.client.send(new PutObjectCommand({ Bucket: s3.bucket, Key, Body: 'theirs' }));
  const location = `s3://${s3.bucket}/theirs`;
  const { code, stdout } = await run(['erase', connection, 'bills', 'to-erase'], {
    env: { ...s3.env, DAYBOOK_LAKE: location },
  });
  const listed = await s3.client.send(new ListObjectsV2Command({ Bucket: s3.bucket, Prefix: 'theirs/' }));
  expect(listed.Contents?.map((one) => one.Key)).toEqual([Key]);
  expect(stdout).toContain(`Snapshots ${theirs} in ${location} lack their _SUCCESS`);
  expect(code).toBe(1);
});

test('an erasure does not name a folder in a bucket whose only names are none that Daybook could write', async () => {
  await warehouse.pool.query('delete from sync.snapshots');
  const location = `s3://${s3.bucket}/foreign`;
  await exportNow({ lake: location, force: true });
  const Key = 'foreign/snapshots/20200101T000000Z-aaaaaa/\u0001';
  await s3.client.send(new PutObjectCommand({ Bucket: s3.bucket, Key, Body: 'x' }));
  const { code, stdout } = await run(['erase', connection, 'bills', 'to-erase'], {
    env: { ...s3.env, DAYBOOK_LAKE: location },
  });
  expect(stdout).not.toContain('lack their _SUCCESS');
  expect(stdout).toContain('Erased bills to-erase');
  expect(code).toBe(0);
});

test('an erasure in a bucket never lists all files of all snapshots', async () => {
  const location = `s3://${s3.bucket}/many`;
  await exportNow({ lake: location, force: true });
  const listed: URLSearchParams[] = [];
  const proxy = await startAnsweringProxy(s3.env.AWS_ENDPOINT_URL!, (_, url) => {
    if (url.searchParams.has('list-type')) listed.push(url.searchParams);
    return undefined;
  });
  const { stdout } = await run(['erase', connection, 'bills', 'to-erase'], {
    env: { ...s3.env, AWS_ENDPOINT_URL: proxy.address, DAYBOOK_LAKE: location },
  });
  expect(stdout).toMatch(/^snapshot \S+, now \S+ +2 +0$/m);
  const ofAll = listed.filter((asked) => asked.get('prefix') === 'many/snapshots/');
  expect(ofAll.length).toBeGreaterThan(0);
  expect(ofAll.filter((asked) => !asked.has('delimiter')).map(String)).toEqual([]);
});

test('an erasure names an incomplete snapshot that Postgres does not know', async () => {
  await warehouse.pool.query('delete from sync.snapshots');
  await rm(join(one, 'snapshots', snapshot, '_SUCCESS'));
  const { code, stdout } = await eraseIn(one);
  expect(stdout).toContain(
    `Snapshots ${snapshot} in ${one} lack their _SUCCESS, so they were not searched and may hold the record.`,
  );
  expect(code).toBe(1);
});

proofTest("a copy of the warehouse can forget the original's snapshots, and they stay", async () => {
  const { code, stdout } = await forget(one, { in: two, more: ['--force'] });
  expect([code, stdout]).toEqual([0, `Forgot 1 snapshot of ${one}.\n`]);
  expect((await eraseIn(two)).code).toBe(0);
  expect(await readdir(join(one, 'snapshots'))).toEqual([snapshot]);
});

test('snapshots in a place that cannot be read are forgotten only with --force', async () => {
  // A Parquet reader cannot open such a path.
  const unseen = `${one}\\[old]`;
  await warehouse.pool.query('update sync.snapshots set lake = $1', [unseen]);
  const refused = await forget(unseen, { in: two });
  expect(refused.stderr).toContain(`Cannot look into ${unseen} (`);
  expect(refused.code).toBe(1);
  expect(await rows(warehouse, 'select from sync.snapshots where removed_at is null')).toHaveLength(1);
  expect((await forget(unseen, { in: two, more: ['--force'] })).code).toBe(0);
  expect(await rows(warehouse, 'select from sync.snapshots where removed_at is null')).toEqual([]);
});

test('"snapshots forget" refuses a place where nothing was published, and lists the places that have snapshots', async () => {
  const { code, stderr } = await forget('s3://nowhere', { in: one });
  expect(stderr).toContain(`No snapshot is known to be in s3://nowhere: they are in ${one}.`);
  expect(code).toBe(1);
});

test('snapshots found in the new place after a move are recorded as being there', async () => {
  await rename(one, two);
  const { code, stdout } = await forget(one, { in: two });
  expect([code, stdout]).toEqual([
    0,
    `Forgot 1 snapshot of ${one}.\n1 snapshot is now recorded in this lake.\n`,
  ]);
  expect(
    await rows(warehouse, 'select snapshot_id, lake from sync.snapshots where removed_at is null'),
  ).toEqual([{ snapshot_id: snapshot, lake: two }]);
  const erased = await eraseIn(two);
  expect(erased.stdout).toMatch(new RegExp(`snapshot ${snapshot}, now \\S+ +2 +0$`, 'm'));
  expect(erased.code).toBe(0);
});

/** Plants marts of a snapshot to which readers are led. */
async function plantMarts(lake: string, id: string): Promise<void> {
  const path = `marts/${id}/bills/part-00000.parquet`;
  await mkdir(join(lake, 'marts', id, 'bills'), { recursive: true });
  await writeFile(join(lake, path), 'planted');
  const file = { path, rows: 1, bytes: 7, sha256: sha256Of('planted') };
  const pointer = { snapshot_id: id, as_of_date: '2026-01-01', marts: { bills: file } };
  await writeFile(join(lake, 'latest-marts.json'), JSON.stringify(pointer));
}

function eraseIn(lake: string): ReturnType<typeof run> {
  return run(['erase', connection, 'bills', 'to-erase'], { env: { DAYBOOK_LAKE: lake } });
}

function forget(
  place: string,
  { in: lake, more = [] }: { in: string; more?: string[] },
): ReturnType<typeof run> {
  return run(['snapshots', 'forget', place, ...more], { env: { DAYBOOK_LAKE: lake } });
}
