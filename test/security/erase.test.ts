import { randomBytes } from 'node:crypto';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { sha256Of } from '../../lake/manifest/manifest.ts';
import { bill, billLine } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { pathWithoutPython } from '../support/path-without-python.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';
import { sync } from '../support/sync.ts';
import { reconcile } from '../support/reconcile.ts';
import { readListeningUrl } from '../webhooks/company.ts';
import { entityWebhook, send } from '../webhooks/webhook.ts';
import { readParquet } from '../lake/read-parquet.ts';

const installation = await createInstallation();
const { admin, run, warehouse, env } = installation;
const lake = join(env.DAYBOOK_HOME ?? '', 'lake');
let connection: string;

/** The planted text, in a bill, one of its lines, and its versions and snapshots. */
const planted = 'planted-content-of-a-person';

beforeAll(async () => {
  connection = await installation.connect({ records: 100 });
  const lines = `[${billLine({ description: `"${planted} in a line"` })}]`;
  const record = bill('to-erase', {
    memo: `"${planted}"`,
    document_number: `"${planted}"`,
    line_items: lines,
  });
  await admin.execute({ kind: 'add', connection, resource: 'bills', record });
  // A worker without Python, which builds no marts.
  const worker = await installation.startWorker(await pathWithoutPython(installation.cwd));
  // The connection that the webhook means is not known yet.
  expect(
    await send(
      readListeningUrl(worker),
      entityWebhook(connection, { entity: 'BILL', what: 'CREATED', record }),
    ),
  ).toBe(200);
  await sync(installation, connection);
  expect((await run(['export'])).code).toBe(0);
  await change({ memo: `${planted}, changed` });
  // This version cannot land, so it also waits in quarantine.
  await change({ amount_due: 'not a number' });
  expect((await run(['export'])).code).toBe(0);
});

test('a record that the source still returns is not erased', async () => {
  const { code, stderr } = await erase();
  expect(code).toBe(1);
  expect(stderr).toContain('The source still returns to-erase of bills');
  expect(await tablesWithContent()).toContain('finance.bills');
});

test('a record is not erased if every fetch returns 404, which proves nothing', async () => {
  const id = 'not-surely-gone';
  await admin.execute({ kind: 'add', connection, resource: 'bills', record: bill(id) });
  await sync(installation, connection);
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id, event: false });
  const match = { connection, path: '/accounting/bills/' };
  await admin.addFault({ match, fault: { kind: 'status', status: 404 } });
  const { code, stderr } = await run(['erase', connection, 'bills', id]);
  await admin.clearFaults();
  expect(code).toBe(1);
  expect(stderr).toContain(
    `It is not certain that ${id} of bills is gone for ${connection}, so nothing was erased`,
  );
  expect(await row(warehouse, 'select id from finance.bills where id = $1', [id])).toEqual({ id });
});

proofTest('an erasure also removes the copies of a build that never succeeded', async () => {
  const id = 'in-a-failed-build';
  await admin.execute({
    kind: 'add',
    connection,
    resource: 'bills',
    record: bill(id, { memo: '"planted-in-a-failed-build"' }),
  });
  await sync(installation, connection);
  // Schemas as dbt leaves them when a test of the first build fails.
  await warehouse.pool.query(`
    create schema if not exists staging; create schema if not exists intermediate; create schema if not exists marts_a;
    comment on schema staging is 'Daybook: copies'; comment on schema intermediate is 'Daybook: steps';
    comment on schema marts_a is 'Daybook: marts';
    create table staging.captured_bills as select * from finance.bills;
    create view staging.stg_finance__bills as select * from staging.captured_bills;
    create table intermediate.int_bills as select * from finance.bills;
    create table marts_a.bills as select * from finance.bills`);
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id, event: false });
  expect(await eraseAsJson(id)).toMatchObject({ held: { 'finance.bills': 1 } });
  expect(await tablesWithContent('planted-in-a-failed-build')).toEqual([]);
});

proofTest('a second erasure finds nothing, and the deletion itself stays recorded', async () => {
  const id = 'to-erase-twice';
  await admin.execute({ kind: 'add', connection, resource: 'bills', record: bill(id) });
  await sync(installation, connection);
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id, event: false });
  expect(await eraseAsJson(id)).toMatchObject({ held: { 'finance.bills': 1 } });
  const { held, snapshots } = await eraseAsJson(id);
  expect(Object.values(held).every((count) => count === 0)).toBe(true);
  expect(snapshots).toEqual([]);
  expect(
    await row(warehouse, 'select source, payload from finance.deleted_records where id = $1', [id]),
  ).toEqual({ source: 'reconcile', payload: null });
});

proofTest(
  'marts on the lake that cannot be rebuilt are removed, and no snapshot holds the record any more',
  async () => {
    const id = 'in-marts-that-fail';
    const memo = 'planted-in-marts-that-fail';
    const record = bill(id, { memo: `"${memo}"` });
    await admin.execute({ kind: 'add', connection, resource: 'bills', record });
    await sync(installation, connection);
    expect((await run(['export'])).code).toBe(0);
    expect((await run(['dbt', 'build', '--target', 'lake'])).code).toBe(0);
    expect(await filesWithContent(memo)).toContainEqual(expect.stringMatching(/^marts\/.*\/bills\//));
    await admin.execute({ kind: 'delete', connection, resource: 'bills', id, event: false });
    const settings = join(env.DAYBOOK_HOME ?? '', 'seeds', 'connection_settings.csv');
    await writeFile(settings, `connection_id,base_currency,fx_direction\n${connection},USD,sideways\n`);
    const { code, stdout, stderr } = await run(['erase', connection, 'bills', id]);
    await rm(settings);
    expect(stderr).toMatch(
      /the marts on the lake are removed, .*The marts were not replaced: .* failed.* build them again with "daybook dbt build --target lake"/,
    );
    expect([code, stderr]).toEqual([0, expect.anything()]);
    expect(stdout).toMatch(/snapshot \S+, now \S+ +[1-9]\d* +0/);
    expect(await filesWithContent(memo)).toEqual([]);
    expect(await readdir(lake)).not.toContain('latest-marts.json');
    expect((await run(['snapshots', 'verify'])).code).toBe(0);
  },
);

proofTest(
  'an erasure that cannot rebuild the marts in Postgres clears everything else, and the next try finishes',
  async () => {
    const id = 'in-marts-of-postgres';
    const memo = 'planted-in-marts-of-postgres';
    await admin.execute({
      kind: 'add',
      connection,
      resource: 'bills',
      record: bill(id, { memo: `"${memo}"` }),
    });
    await sync(installation, connection);
    expect((await run(['export'])).code).toBe(0);
    expect((await run(['dbt', 'build', '--target', 'postgres'])).code).toBe(0);
    await admin.execute({ kind: 'delete', connection, resource: 'bills', id, event: false });
    const settings = join(env.DAYBOOK_HOME ?? '', 'seeds', 'connection_settings.csv');
    await writeFile(settings, `connection_id,base_currency,fx_direction\n${connection},USD,sideways\n`);
    const { code, stdout, stderr } = await run(['erase', connection, 'bills', id]);
    await rm(settings);
    expect(code).toBe(1);
    expect(stderr).toContain('the marts in Postgres still hold it');
    expect(stdout).toMatch(
      /Fix the following, then run the same command again:\n {2}The marts were not replaced/,
    );
    expect(await filesWithContent(memo)).toEqual([]);
    expect(await tablesWithContent(memo)).toEqual(['marts.bills', 'marts_a.bills']);
    expect(await eraseAsJson(id)).toMatchObject({ marts: ['postgres'] });
    expect(await tablesWithContent(memo)).toEqual([]);
  },
);

proofTest('marts in Postgres from a build killed before it was recorded are rebuilt', async () => {
  const id = 'in-marts-that-are-not-noted';
  const memo = 'planted-in-marts-that-are-not-noted';
  const record = bill(id, { memo: `"${memo}"` });
  await admin.execute({ kind: 'add', connection, resource: 'bills', record });
  await sync(installation, connection);
  expect((await run(['dbt', 'build', '--target', 'postgres'])).code).toBe(0);
  await warehouse.pool.query('delete from sync.marts');
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id, event: false });
  expect(await eraseAsJson(id)).toMatchObject({ marts: ['postgres'] });
  expect(await tablesWithContent(memo)).toEqual([]);
});

test('a snapshot that cannot be read is reported and blocks no other: an impossible time, or a file that is not Parquet', async () => {
  const id = 'beside-oddities';
  const memo = 'planted-beside-oddities';
  const record = bill(id, { memo: `"${memo}"` });
  await admin.execute({ kind: 'add', connection, resource: 'bills', record });
  await sync(installation, connection);
  expect((await run(['export'])).code).toBe(0);
  const timeless = await plantCopy((manifest) => {
    manifest.taken_at = '2026-02-30T00:00:00Z';
  });
  const noParquet = await plantCopy(async ({ tables: { bills } }, folder) => {
    const [file] = bills.files;
    await writeFile(join(folder, file.path), 'no Parquet');
    Object.assign(file, { sha256: sha256Of('no Parquet'), bytes: 10 });
  });
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id, event: false });
  const { code, stdout } = await run(['erase', connection, 'bills', id]);
  expect(stdout).toMatch(/snapshot \S+, now \S+ +2 +0/);
  expect(stdout).toContain(
    `snapshots/${timeless}/_manifest.json of the lake ${lake} is not what Daybook wrote`,
  );
  expect(stdout).toContain(`bills/part-00000.parquet of snapshot ${noParquet} is not what its manifest says`);
  expect(code).toBe(1);
  for (const planted of [timeless, noParquet])
    await rm(join(lake, 'snapshots', planted), { recursive: true });
  expect(await filesWithContent(memo)).toEqual([]);
  expect((await run(['erase', connection, 'bills', id])).code).toBe(0);
});

test("an erasure removes a record's content from tables, history, quarantine, snapshots and marts", async () => {
  for (const target of some(['postgres', 'lake'])) await run(['dbt', 'build', '--target', target]);
  const before = await tablesWithContent();
  expect(before).toEqual(
    expect.arrayContaining([
      ...[
        'finance.bills',
        'finance.bill_lines',
        'history.record_versions',
        'sync.quarantine',
        'sync.webhook_inbox',
      ],
      ...['marts.bills', 'marts.bill_lines'],
    ]),
  );
  expect(await filesWithContent()).not.toEqual([]);
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id: 'to-erase', event: false });
  const { code, stdout, stderr } = await erase();
  expect([code, stderr]).toEqual([0, expect.anything()]);
  expect(stdout).toMatch(/history\.record_versions +\d+ +0$/m);
  expect(await tablesWithContent()).toEqual([]);
  expect(await filesWithContent()).toEqual([]);
  expect((await run(['snapshots', 'verify'])).code).toBe(0);
  const { run: proof } = await reconcile(installation, connection);
  expect(proof.status).toBe('succeeded');
});

test('erase refuses an unknown connection or resource, and lists the resources', async () => {
  expect(await run(['erase', 'nobody', 'bills', 'x'])).toMatchObject({ code: 1 });
  const { code, stderr } = await run(['erase', connection, 'invoices', 'x']);
  expect(code).toBe(2);
  expect(stderr).toContain('The resources are bills');
});

async function eraseAsJson(
  id: string,
): Promise<{ held: Readonly<Record<string, number>>; snapshots: unknown[] }> {
  const { code, stdout, stderr } = await run(['erase', connection, 'bills', id, '--json']);
  expect([code, stderr]).toEqual([0, expect.anything()]);
  return JSON.parse(stdout) as Awaited<ReturnType<typeof eraseAsJson>>;
}

function erase(): ReturnType<typeof run> {
  return run(['erase', connection, 'bills', 'to-erase']);
}

interface Described {
  snapshot_id: string;
  taken_at: string;
  tables: { bills: { files: [{ path: string; sha256: string; bytes: number }] } };
}

/** Plants a changed copy of the latest snapshot, as anyone who can write to the lake can. Returns its ID. */
async function plantCopy(
  change: (manifest: Described, folder: string) => Promise<void> | void,
): Promise<string> {
  const { snapshot_id: from } = JSON.parse(await readFile(join(lake, 'latest.json'), 'utf8')) as Described;
  const id = from.slice(0, -6) + randomBytes(3).toString('hex');
  const folder = join(lake, 'snapshots', id);
  await cp(join(lake, 'snapshots', from), folder, { recursive: true });
  const path = join(folder, '_manifest.json');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as Described;
  manifest.snapshot_id = id;
  await change(manifest, folder);
  await writeFile(path, JSON.stringify(manifest));
  return id;
}

async function change(patch: Record<string, unknown>): Promise<void> {
  await admin.execute({
    kind: 'change',
    connection,
    resource: 'bills',
    id: 'to-erase',
    patch: JSON.stringify(patch),
  });
  await sync(installation, connection);
}

/** Every table and view in the warehouse, whatever created it, that has the planted text in a row. */
async function tablesWithContent(text = planted): Promise<string[]> {
  const relations = await rows(
    warehouse,
    `select format('%I.%I', schemaname, name) as name
     from (
       select schemaname, tablename as name from pg_tables union all select schemaname, viewname from pg_views
     ) relations
     where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
  );
  const found: string[] = [];
  for (const { name } of relations) {
    const { held } = await row(
      warehouse,
      `select exists (select from ${String(name)} r where r::text like $1) as held`,
      [`%${text}%`],
    );
    if (held === true) found.push(String(name));
  }
  return found;
}

/** Files of the lake that contain the text, also inside compressed columns. */
async function filesWithContent(text = planted): Promise<string[]> {
  const names = await readdir(lake, { recursive: true });
  const found: string[] = [];
  for (const name of names.filter((one) => one.endsWith('.json')))
    if ((await readFile(join(lake, name), 'utf8')).includes(text)) found.push(name);
  const held = names
    .filter((one) => one.endsWith('.parquet'))
    .map(
      (name) =>
        `select '${name}' as name from read_parquet('{lake}/${name}') as r where r::varchar like '%${text}%'`,
    );
  // One DuckDB query for the hundred files, each read as it is.
  const files = held.length === 0 ? [] : await readParquet(lake, held.join(' union '));
  return [...found, ...files.map(({ name }) => name ?? '')];
}
