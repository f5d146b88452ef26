import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { publishMarts } from '../../warehouse/marts/publish-marts.ts';
import { dropHiddenMarts } from '../../warehouse/marts/drop-hidden-marts.ts';
import { prepareSchemas } from '../../warehouse/marts/prepare-schemas.ts';
import { repeatStatements } from '../support/repeat-statements.ts';
import { row, rows } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse, url, adminUrl } = await createTestDatabase();
const client = await warehouse.pool.connect();
afterAll(() => {
  client.release();
});

const marts = ['ageing', 'bills', 'customers', 'items', 'spend', 'vendors'];
let build = 0;
beforeEach(async () => {
  await publishMarts(client, { schema: await buildNext() });
});

test('publishing waits for a long-running reader, names it, and delays other readers by less than a second', async () => {
  const reader = await hold('vendors');
  const others = repeatStatements(url, { ageing: 'select build from marts.ageing' });
  const said: string[] = [];
  const schema = await buildNext();
  const publishing = publishMarts(client, { schema }, { onStep: (text) => said.push(text) });
  await pause(5_000);
  expect(await shown()).toBe(build - 1);
  await reader.end();
  await publishing;
  expect(await shown()).toBe(build);
  expect(said).toEqual([
    expect.stringMatching(
      /^Publishing the marts waits for postgres \(session \d+, Tableau\) reads .*marts.vendors/,
    ),
  ]);
  expect(await others.stopAndMeasure()).toBeLessThan(1_000);
});

test('publishing does not delay a reader by the sum of what several other readers hold', async () => {
  const held = await Promise.all(marts.slice(1).map((mart) => hold(mart)));
  const others = repeatStatements(url, { ageing: 'select build from marts.ageing' });
  const publishing = publishMarts(client, { schema: await buildNext() });
  for (const reader of held) {
    await pause(400);
    await reader.end();
  }
  await publishing;
  expect(await shown()).toBe(build);
  expect(await others.stopAndMeasure()).toBeLessThan(1_000);
});

test('publishing waits while a reader holds a mart, and stops waiting when it is aborted', async () => {
  const reader = await hold('bills');
  await publishMarts(client, { schema: await buildNext() }, { signal: AbortSignal.timeout(2_500) }).then(
    () => expect.unreachable(),
    (error: unknown) => {
      expect(error).toMatchObject({ name: 'TimeoutError' });
    },
  );
  await reader.end();
  build -= 1;
  expect(await shown()).toBe(build);
});

test('a build does not drop a schema with the name of its own that somebody else has made, and says what to do', async () => {
  await rows(
    warehouse,
    'drop schema staging; create schema staging; create table staging.mine as select 1 as kept',
  );
  await expect(buildNext()).rejects.toThrow(
    'The database has staging, which Daybook did not make and each build of the marts would drop: rename it ' +
      '("alter schema staging rename to …") or drop it, then try again.',
  );
  expect(await row(warehouse, 'select kept from staging.mine')).toEqual({ kept: 1 });
  // One schema as a failed build of 0.4 or 0.5 left it, and an empty one as a restore without comments makes it.
  await rows(
    warehouse,
    `comment on schema staging is 'Daybook: what the models read, copied in one transaction at the start of each build';
     comment on schema intermediate is null`,
  );
  await buildNext();
  build -= 1;
  expect(await row(warehouse, `select to_regclass('staging.mine') as left`)).toEqual({ left: null });
});

test.each(['marts_a', 'marts_b'] as const)(
  'a build or an erasure does not drop %s if somebody else has made it',
  async (name) => {
    await rows(warehouse, `update sync.settings set value = '${other(name)}' where name = 'marts_schema'`);
    await rows(warehouse, `drop schema if exists ${name} cascade; create schema ${name}`);
    await rows(warehouse, `create table ${name}.mine as select 1 as kept`);
    onTestFinished(async () => {
      await rows(warehouse, `drop schema if exists ${name} cascade`);
    });
    const why = `The database has ${name}, which Daybook did not make`;
    await expect(prepareSchemas(client)).rejects.toThrow(why);
    await expect(dropHiddenMarts(client, {})).rejects.toThrow(why);
    expect(await row(warehouse, `select kept from ${name}.mine`)).toEqual({ kept: 1 });
    await rows(warehouse, `drop table ${name}.mine`);
    expect(await prepareSchemas(client)).toBe(name);
    await dropHiddenMarts(client, {});
    expect(await row(warehouse, `select to_regnamespace('${name}')::text as left`)).toEqual({ left: null });
  },
);

function other(schema: 'marts_a' | 'marts_b'): 'marts_a' | 'marts_b' {
  return schema === 'marts_a' ? 'marts_b' : 'marts_a';
}

/** Makes the tables of a next build. */
async function buildNext(): Promise<'marts_a' | 'marts_b'> {
  const schema = await prepareSchemas(client);
  build += 1;
  for (const mart of marts)
    await client.query(
      `create table ${schema}.${mart} as select ${build} as build;
       comment on table ${schema}.${mart} is 'one'; comment on column ${schema}.${mart}.build is 'one'`,
    );
  return schema;
}

async function shown(): Promise<unknown> {
  return (await row(warehouse, 'select build from marts.ageing')).build;
}

/** Reads a mart in a transaction that stays open. */
async function hold(mart: string): Promise<pg.Client> {
  const reader = new pg.Client({ connectionString: adminUrl, application_name: 'Tableau' });
  await reader.connect();
  onTestFinished(() => reader.end().catch(() => undefined));
  await reader.query(`begin; select from marts.${mart}`);
  return reader;
}
