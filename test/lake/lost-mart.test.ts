import { mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDuckDb, quoted } from '../../lake/parquet/duck-db.ts';
import { openLake } from '../../lake/open-lake.ts';
import { sha256OfFile } from '../../lake/parquet/read-back.ts';
import { publishOnLake, readMartsPointer } from '../../marts/publish-on-lake.ts';

test('a build on the same snapshot replaces a missing or damaged mart, and leaves an intact one in place', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-marts-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const database = join(folder, 'built.duckdb');
  const duckDb = await openDuckDb({ spillFolder: folder });
  const connection = await duckDb.connect();
  const sql = 'create schema b.marts; create table b.marts.bills as select 1 as x';
  await connection.run(`attach ${quoted(database)} as b; ${sql}`);
  connection.closeSync();
  duckDb.close();
  const lake = await openLake({ location: join(folder, 'lake'), scratch: join(folder, 'scratch') });
  const takenAt = '2026-11-21T12:00:00.000001Z';
  const built = { database, snapshotId: '20261121T120000Z-aaaaaa', takenAt, asOfDate: '2026-11-21' };
  const build = async (): Promise<string> => {
    await publishOnLake(lake, { ...built, scratch: join(folder, 'scratch') });
    const { path, bytes, sha256 } = (await readMartsPointer(lake)).pointer!.marts.bills!;
    expect(await lake.withFile({ path, bytes }, (local) => sha256OfFile(local))).toEqual({ result: sha256 });
    expect(await lake.filesIn('marts')).toHaveLength(1);
    return path;
  };
  const path = await build();
  expect(await build()).toBe(path);
  await lake.removeFile(path);
  const second = await build();
  expect(second).not.toBe(path);
  await truncate(join(folder, 'lake', second), 10);
  expect(await build()).toBe(path);
});
