import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { resources } from '../../resources/index.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { prepareSchemas } from '../../warehouse/marts/prepare-schemas.ts';
import { publishMarts } from '../../warehouse/marts/publish-marts.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { addReader } from '../../warehouse/readers/add-reader.ts';
import { listReaders } from '../../warehouse/readers/list-readers.ts';
import { removeReader } from '../../warehouse/readers/remove-reader.ts';
import { bill, customer, expense, item, list, billLine } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { landEvents, buildDeletionEvent } from '../support/land-events.ts';
import { rows } from '../support/rows.ts';
import { testApiAddress, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

/** Two companies. One reader sees the first, and has read our sources. Data of the other contains the word `planted`. */
const { warehouse, url, adminUrl } = await createTestDatabase();
const admin = await connectAs(adminUrl);
const owner = await connectAs(url);
const made: string[] = [];
let tenant: pg.Client;
let everything: pg.Client;

beforeAll(async () => {
  await addCompany('acme', 'own');
  await addCompany('rival', 'planted');
  await publish('first');
  tenant = await connectAs((await reader('acme-portal', ['acme'])).href);
  everything = await connectAsMember('daybook_reader');
});

afterAll(async () => {
  await Promise.all([tenant.end(), everything.end(), owner.end()]);
  for (const role of made)
    await admin.query(`drop owned by ${role}; drop role ${role}`).catch(() => undefined);
  await admin.end();
});

const financeTables = resources.flatMap(({ name, children }) => [
  name,
  ...children.map(({ table }) => table),
]);

describe('a temporary relation named like a catalog table', () => {
  // As on a copy of the database before its next `migrate`, where PUBLIC may create temporary tables.
  test('shows a reader no other connection, and runs nothing as the owner', async () => {
    const database = new URL(url).pathname.slice(1);
    const { me } = (await tenant.query<{ me: string }>('select current_user as me')).rows[0] ?? { me: '' };
    await admin.query(`grant temporary on database ${database} to ${me}`);
    onTestFinished(async () => {
      await tenant.query('discard temp');
      await admin.query(`revoke temporary on database ${database} from ${me}`);
    });
    await tenant.query('set default_transaction_read_only = off');
    await tenant.query(`
      create function pg_temp.owner_runs() returns oid language plpgsql as $$
        begin raise 'ran as %', current_user; end $$;
      create temp view pg_namespace as select 'sync'::name as nspname, pg_temp.owner_runs() as nspowner,
        pg_temp.owner_runs() as oid;
      grant select on pg_temp.pg_namespace to public`);
    const seen = await tenant.query('select distinct connection_id from finance.bills');
    expect(seen.rows).toEqual([{ connection_id: 'acme' }]);
  });

  test('comes last in the search path of each function of the owner', async () => {
    const { rows: first } = await admin.query(
      `select p.oid::regprocedure::text as name, p.proconfig from pg_proc p
       join pg_namespace n on n.oid = p.pronamespace
       where p.prosecdef and n.nspname !~ '^pg_'
         and not 'search_path=pg_catalog, pg_temp' = any (coalesce(p.proconfig, '{}'))`,
    );
    expect(first).toEqual([]);
  });
});

describe('a reader of one connection sees only its rows', () => {
  test.each([...financeTables, 'deleted_records', 'connections'])('in finance.%s', async (table) => {
    const all = await rows(warehouse, `select distinct connection_id from finance.${table} order by 1`);
    const { rows: seen } = await tenant.query(`select distinct connection_id from finance.${table}`);
    expect(seen).toEqual(all.filter(({ connection_id: name }) => name === 'acme'));
    const { rows: complete } = await everything.query(
      `select distinct connection_id from finance.${table} order by 1`,
    );
    expect(complete).toEqual(all);
  });

  test('in tables that have rows of both companies', async () => {
    for (const table of [
      'bills',
      'bill_lines',
      'customers',
      'expenses',
      'items',
      'deleted_records',
      'connections',
    ])
      expect(
        await rows(warehouse, `select distinct connection_id from finance.${table}`),
        table,
      ).toHaveLength(2);
  });

  test('in history.as_of, whatever the resource', async () => {
    for (const { name } of resources) {
      const asked = `select distinct connection_id from history.as_of('${name}', now())`;
      const { rows: seen } = await tenant.query<{ connection_id: string }>(asked);
      expect(seen.filter(({ connection_id: id }) => id !== 'acme')).toEqual([]);
    }
    for (const narrow of ["connection => 'rival'", "connection => 'rival', record => 'planted-bill'", 'null'])
      expect((await tenant.query(`select from history.as_of('bills', now(), ${narrow})`)).rows).toEqual([]);
    const own = `select record_id from history.as_of('bills', now(), 'acme')`;
    expect((await tenant.query(own)).rows).toEqual([{ record_id: 'own-bill' }]);
    const bills = `select connection_id, record_id from history.as_of('bills', now()) order by 1`;
    expect((await tenant.query(bills)).rows).toEqual([{ connection_id: 'acme', record_id: 'own-bill' }]);
    expect((await everything.query(bills)).rows).toHaveLength(2);
    expect((await owner.query(bills)).rows).toHaveLength(2);
    expect((await admin.query(bills)).rows).toHaveLength(2);
  });

  test('in the marts of every build, including one published by the previous release', async () => {
    const seen = async (client: pg.Client): Promise<unknown[]> =>
      (await client.query<object>('select connection_id, build from marts.totals order by 1')).rows;
    for (const build of ['second', 'third']) {
      await publish(build);
      expect(await seen(tenant)).toEqual([{ connection_id: 'acme', build }]);
      expect(await seen(everything)).toHaveLength(2);
      expect((await tenant.query('select day::text from marts.days')).rows).toEqual([{ day: '2026-01-01' }]);
    }
    await publishAsBefore('of 0.5');
    expect(await seen(tenant)).toEqual([{ connection_id: 'acme', build: 'of 0.5' }]);
    expect(await seen(everything)).toHaveLength(2);
  });

  test('in a table added later, after the next migrate', async () => {
    await owner.query('create table finance.later (connection_id text primary key, secret text)');
    await owner.query(`insert into finance.later values ('acme', 'own'), ('rival', 'planted')`);
    onTestFinished(async () => {
      await owner.query('drop table finance.later');
    });
    await expect(tenant.query('select from finance.later')).rejects.toThrow(/permission denied/);
    await migrate(warehouse);
    expect((await tenant.query('select secret from finance.later')).rows).toEqual([{ secret: 'own' }]);
    expect((await everything.query('select secret from finance.later')).rows).toHaveLength(2);
  });
});

test('everything that a reader of one connection may select is filtered, or belongs to no company', async () => {
  const { rows: open } = await tenant.query<{ name: string }>(
    `select format('%I.%I', nspname, relname) as name
     from pg_class c join pg_namespace n on n.oid = relnamespace
     where relkind in ('r', 'p', 'v', 'm') and nspname !~ '^(pg_|information_schema)'
       and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
       and not (relrowsecurity and row_security_active(c.oid))
     order by 1`,
  );
  expect(open.map(({ name }) => name)).toEqual([
    ...['finance.connections', 'finance.deleted_records'],
    ...['marts.days', 'marts.totals'],
  ]);
  const { rows: writable } = await tenant.query(
    `select c.oid::regclass from pg_class c, unnest(array['insert', 'update', 'delete', 'truncate', 'references', 'trigger']) may
     where relkind in ('r', 'p', 'v') and relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
       and has_table_privilege(c.oid, may)`,
  );
  expect(writable).toEqual([]);
});

describe('a reader of one connection learns nothing of others through', () => {
  const notFound = async (statement: string, client = tenant): Promise<void> => {
    const notices: string[] = [];
    const listen = ({ message }: { message?: string | undefined }): void => {
      notices.push(message ?? '');
    };
    client.on('notice', listen);
    const found = await client.query(statement).then(
      (result: unknown) => JSON.stringify(result),
      (error: unknown) => String(error) + JSON.stringify(error),
    );
    client.off('notice', listen);
    expect(found + notices.join('\n'), statement).not.toMatch(/planted|rival/);
  };

  test.each([
    [
      'a function that tells of every row, made by an administrator',
      'select id from finance.bills where tell(memo)',
    ],
    ['the same over a mart', 'select * from marts.totals where tell(secret)'],
    ['the same over deletions', 'select * from finance.deleted_records where tell(payload::text)'],
    ['the same over connections', 'select * from finance.connections where tell(org_id)'],
    ['the same over the past', `select * from history.as_of('bills', now()) where tell(payload::text)`],
    ['an error of a cast', 'select id from finance.bills where (memo::int) > 0'],
    ['an error of a cast over a mart', 'select * from marts.totals where secret::int > 0'],
    [
      'an error of a cast over deletions',
      `select * from finance.deleted_records where (payload ->> 'memo')::int > 0`,
    ],
    [
      'a division by zero',
      `select id from finance.bills where 1 / (case when memo like 'planted%' then 0 else 1 end) = 1 and memo::int = 1`,
    ],
    [
      'a place on the disk',
      `select * from finance.bills where ctid = any (array(select format('(0,%s)', n)::tid from generate_series(1, 50) n))`,
    ],
    ['a sample', 'select * from finance.bills tablesample system (100)'],
    ['row security that is set off', 'set row_security = off; select * from finance.bills; '],
    ['a copy', 'copy (select * from finance.bills) to stdout'],
    ['a join', 'select b.*, l.* from finance.bill_lines l full join finance.bills b on true'],
    ['an aggregate', `select string_agg(memo, ',') from finance.bills`],
    [
      'the plan',
      'explain (analyze, verbose, settings, format json) select * from finance.bills where tell(memo)',
    ],
    [
      'the plan of a mart',
      'explain (analyze, verbose, format json) select * from marts.totals where tell(secret)',
    ],
    ['statistics', 'select * from pg_stats; '],
    ['extended statistics', 'select * from pg_stats_ext; select * from pg_stats_ext_exprs'],
    ['statistics as they are stored', 'select * from pg_statistic'],
    ['a table of marts by its own name', 'select * from marts_a.totals'],
    ['the other schema of marts', 'select * from marts_b.totals'],
    ['staging', 'select * from staging.captured'],
    ['intermediate', 'select * from intermediate.step'],
    ['sync', 'select * from sync.connections'],
    ['who else reads', 'select * from sync.reader_connections'],
    ['what others see', `select sync.connections_seen_by('daybook')`],
    ['the past, asked for all', `select * from sync.as_of('bills', now(), null)`],
    ['changes, asked for all', `select * from sync.changes_since('bills', '{}', null)`],
    [
      'changes since a time of the other',
      `select * from history.changed_since('bills', '{"rival": "-infinity"}')`,
    ],
    ['history', 'select * from history.record_versions'],
    ['months of streams', 'select * from history.stream_months'],
    ['the role of all readers', 'set role daybook_reader; select * from finance.bills'],
    ['the role of such readers', 'set role daybook_tenant; select * from finance.bills'],
    ['the owner', 'set role daybook; select * from finance.bills'],
    ['another session', `set session authorization daybook; select * from finance.bills`],
    [
      'a setting',
      `set daybook.connections = 'rival'; set search_path = pg_temp, sync; select * from finance.bills`,
    ],
    ['a file', `select pg_read_file('postgresql.conf')`],
    ['a large object', 'select lo_get(oid) from pg_largeobject_metadata; select lo_creat(-1)'],
    ['roles', 'select rolname, rolconfig from pg_roles'],
    ['what others run', 'select query, application_name from pg_stat_activity where usename <> current_user'],
    [
      'comments, policies and functions',
      'select * from pg_policies; select prosrc from pg_proc where prosrc like $$%connection_id%$$',
    ],
    [
      'a block of code',
      `do $$ declare r record; begin for r in select * from finance.bills loop raise notice '%', r; end loop; end $$`,
    ],
    [
      'a cursor and a prepared statement',
      `prepare p as select * from finance.bills; execute p; deallocate p; begin; declare c cursor for select * from marts.totals; fetch all from c; commit`,
    ],
    [
      'information_schema',
      'select * from information_schema.tables; select * from information_schema.column_privileges',
    ],
    [
      'xml of everything',
      `select query_to_xml('select * from finance.bills', true, false, ''); select schema_to_xml('finance', true, false, '')`,
    ],
  ])('%s', async (_, statement) => {
    await owner.query(`
      create schema if not exists staging; create table if not exists staging.captured as select memo from finance.bills;
      create schema if not exists intermediate; create table if not exists intermediate.step as select memo from finance.bills;
      analyze;`);
    await admin.query(`
      create or replace function public.tell(told text) returns boolean language plpgsql cost 0.0000001
      as $$ begin raise notice '%', told; return true; end $$`);
    await notFound(statement);
    await tenant.query('rollback; reset all; reset role');
    expect((await tenant.query('select id from finance.bills')).rows).toEqual([{ id: 'own-bill' }]);
  });

  test('views and functions in a schema that an administrator gave the reader', async () => {
    const login = (await tenant.query<{ me: string }>('select current_user as me')).rows[0]?.me ?? '';
    await admin.query(`create schema own authorization ${login}`);
    onTestFinished(async () => {
      await admin.query('drop schema own cascade');
    });
    await tenant.query('set default_transaction_read_only = off');
    await tenant.query('create view own.leaky as select * from finance.bills');
    await tenant.query('create view own.marts with (security_invoker) as select * from marts.totals');
    await tenant.query(
      `create function own.tell(told text) returns boolean language plpgsql cost 0.0000001
       as $$ begin raise notice '%', told; return true; end $$`,
    );
    await tenant.query('create operator own.=== (leftarg = text, rightarg = text, function = texteq)');
    for (const relation of [
      'own.leaky',
      'own.marts',
      'finance.bills',
      'finance.deleted_records',
      'marts.totals',
    ])
      await notFound(`select * from ${relation} x where own.tell(x::text)`);
    await notFound(`create materialized view own.kept as select * from finance.bills; table own.kept`);
  });

  test('functions, tables, schemas and roles of its own: it may create none', async () => {
    await tenant.query('set default_transaction_read_only = off');
    for (const statement of [
      'create function public.f() returns int language sql return 1',
      'create function pg_temp.f() returns int language sql return 1',
      'create temporary table t (n int)',
      'create schema mine',
      'create role another',
      'create table finance.t (n int)',
      'alter table finance.bills disable row level security',
      'drop policy everybody on finance.bills',
      'create policy mine on finance.bills using (true)',
      'grant daybook_reader to current_user',
      `insert into sync.reader_connections values ('acme-portal', 'rival')`,
      'delete from finance.bills',
    ])
      await expect(tenant.query(statement), statement).rejects.toThrow(
        /permission denied|must be|must have|not permitted/,
      );
  });

  test('"drop owned by" a role that it is a member of: no rule goes, and no table is locked', async () => {
    await tenant.query('begin read write; drop owned by daybook_tenant; drop owned by current_user');
    onTestFinished(async () => {
      await tenant.query('rollback');
    });
    for (const relation of ['finance.bills', 'finance.customers', 'marts.totals'])
      expect((await tenant.query(`select distinct connection_id from ${relation}`)).rows, relation).toEqual([
        { connection_id: 'acme' },
      ]);
    const { rows: locked } = await owner.query(
      `select relation::regclass::text from pg_locks l join pg_class c on c.oid = l.relation
       where pid = $1 and relnamespace::regnamespace::text ~ '^(finance|marts)' and mode <> 'AccessShareLock'`,
      [(await tenant.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid],
    );
    expect(locked).toEqual([]);
    await tenant.query('commit');
    expect((await tenant.query('select id from finance.bills')).rows).toEqual([{ id: 'own-bill' }]);
  });

  test('rules that name a role, whose owned objects it could drop: there are none', async () => {
    const { rows: named } = await owner.query(
      `select format('%s on %s', polname, polrelid::regclass) from pg_policy where polroles <> '{0}'`,
    );
    expect(named).toEqual([]);
  });

  test('statistics in pg_stats: they cover no table that has companies', async () => {
    await owner.query('analyze');
    const { rows: shown } = await tenant.query<{ name: string }>(
      `select distinct format('%I.%I', schemaname, tablename) as name from pg_stats where schemaname !~ '^pg_|^information_schema'`,
    );
    expect(shown.filter(({ name }) => !name.endsWith('.days'))).toEqual([]);
  });
});

test('a known limit: an estimate reveals that a guessed value is frequent, and no query returns it', async () => {
  await owner.query(`
    insert into finance.items (connection_id, id, code, _run_id, _first_seen_at, _changed_at, _content_hash)
      select 'rival', 'item-' || n, 'planted', '', now(), now(), '' from generate_series(1, 2000) n;
    insert into finance.items (connection_id, id, code, _run_id, _first_seen_at, _changed_at, _content_hash)
      select 'acme', 'item-' || n, n, '', now(), now(), '' from generate_series(1, 2000) n;
    analyze finance.items`);
  onTestFinished(async () => {
    await owner.query(`delete from finance.items where id like 'item-%'`);
  });
  const estimate = async (code: string): Promise<number> => {
    const { rows: planned } = await tenant.query<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(
      `explain (format json) select * from finance.items where code = '${code}'`,
    );
    return planned[0]?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0;
  };
  expect(await estimate('planted')).toBeGreaterThan(await estimate('not there'));
  expect((await tenant.query(`select from finance.items where code = 'planted'`)).rowCount).toBe(0);
});

describe("a reader's access follows the connection", () => {
  test('removed, and replaced by another company of the same name: none of its rows are visible', async () => {
    await addCompany('moving', 'planted first');
    const login = await connectAs((await reader('mover', ['moving', 'acme'])).href);
    const seen = async (): Promise<unknown> =>
      (await login.query('select connection_id from finance.bills order by 1')).rows;
    expect(await seen()).toHaveLength(2);
    await removeConnection(warehouse, { connectionId: 'moving', keepData: false });
    await addCompany('moving', 'planted second');
    expect(await seen()).toEqual([{ connection_id: 'acme' }]);
    expect(await readVisibleConnections('mover')).toEqual(['acme']);
    await login.end();
  });

  test('removed by the previous release, which knows nothing of readers: the access ends', async () => {
    await addCompany('older', 'planted');
    await reader('of-older', ['older']);
    await owner.query(`delete from finance.bills where connection_id = 'older'`);
    await owner.query(`delete from sync.connections where connection_id = 'older'`);
    expect(await readVisibleConnections('of-older')).toEqual([]);
  });

  test('removed with --keep-data: kept rows stay visible, also once the name is added again; the access ends with the data', async () => {
    await addCompany('kept', 'planted');
    const login = await connectAs((await reader('keeper', ['kept'])).href);
    const bills = async (): Promise<number | null> =>
      (await login.query('select from finance.bills')).rowCount;
    await pin('kept');
    await removeConnection(warehouse, { connectionId: 'kept', keepData: true });
    expect(await bills()).toBe(1);
    await add('kept');
    expect(await bills()).toBe(1);
    await removeConnection(warehouse, { connectionId: 'kept', keepData: true });
    await removeConnection(warehouse, { connectionId: 'kept', keepData: false });
    expect(await readVisibleConnections('keeper')).toEqual([]);
    await login.end();
  });
});

describe('reader add', () => {
  test('refuses connections that do not exist, and changes nothing', async () => {
    await expect(reader('acme-portal', ['acme', 'nobody'])).rejects.toThrow(/nobody/);
    expect(await readVisibleConnections('acme-portal')).toEqual(['acme']);
  });

  test("with an existing name changes connections and password, keeps the login, and drops its user's settings", async () => {
    const first = await reader('again', ['acme']);
    const session = await connectAs(first.href);
    await session.query(`alter role current_user set statement_timeout = '1ms'`).catch(() => undefined);
    const second = await reader('again', ['rival']);
    expect(second.username).toBe(first.username);
    await expect(connectAs(first.href)).rejects.toThrow(/password authentication failed/);
    expect((await session.query('select connection_id from finance.bills')).rows).toEqual([
      { connection_id: 'rival' },
    ]);
    await session.end();
  });

  test('stores the password nowhere', async () => {
    const { password, username } = await reader('quiet', ['acme']);
    const kept = JSON.stringify([
      await rows(warehouse, 'select * from sync.readers'),
      await rows(warehouse, 'select * from sync.settings'),
      (await admin.query('select * from pg_authid where rolname = $1', [username])).rows,
    ]);
    expect(kept).toContain(username);
    expect(kept).not.toContain(password);
  });

  test('gives roles names that do not reveal the names of readers', async () => {
    const { rows: names } = await tenant.query<{ rolname: string }>('select rolname from pg_roles');
    expect(names.filter(({ rolname }) => /acme|portal|mover|keeper/.test(rolname))).toEqual([]);
  });

  test('lets a member of several readers see what all of them see, and with set role what that one sees', async () => {
    const one = await reader('one', ['acme']);
    const other = await reader('other', ['rival']);
    const person = await connectAsMember(`${one.username}, ${other.username}`);
    const seen = async (): Promise<unknown[]> =>
      (
        await person.query<{ id: string }>('select connection_id as id from finance.bills order by 1')
      ).rows.map(({ id }) => id);
    expect(await seen()).toEqual(['acme', 'rival']);
    await person.query(`set role ${other.username}`);
    expect(await seen()).toEqual(['rival']);
    expect((await person.query(`select connection_id from history.as_of('bills', now())`)).rows).toEqual([
      { connection_id: 'rival' },
    ]);
    await person.end();
  });

  test('restricts a login that is also in daybook_reader until it takes that role, and reader list shows the membership', async () => {
    const { username, href } = await reader('both', ['acme']);
    expect(await beyond('both')).toEqual([]);
    await admin.query(`grant daybook_reader to ${username}`);
    expect(await beyond('both')).toEqual(['daybook_reader']);
    const login = await connectAs(href);
    expect((await login.query('select connection_id from finance.bills')).rows).toEqual([
      { connection_id: 'acme' },
    ]);
    expect((await login.query('select connection_id from marts.totals')).rows).toEqual([
      { connection_id: 'acme' },
    ]);
    expect((await login.query('select connection_id from finance.connections')).rows).toHaveLength(1);
    await login.query('set role daybook_reader');
    expect((await login.query('select from finance.connections')).rowCount).toBeGreaterThan(1);
    await login.end();
  });
});

test('reader remove drops the login, and its open session sees nothing', async () => {
  const { username, href } = await reader('leaving', ['acme']);
  const session = await connectAs(href);
  expect((await session.query('select from finance.bills')).rowCount).toBe(1);
  expect(await removeReader(warehouse, 'leaving')).toBeNull();
  await expect(session.query('select from finance.bills')).rejects.toThrow();
  await session.end().catch(() => undefined);
  await expect(connectAs(href)).rejects.toThrow();
  expect((await admin.query('select from pg_roles where rolname = $1', [username])).rowCount).toBe(0);
  await expect(removeReader(warehouse, 'leaving')).rejects.toThrow(/There is no reader leaving/);
});

describe('reader remove, while a session of the login still holds something,', () => {
  const everyRelation = {
    bills: 'select connection_id, memo from finance.bills',
    deleted: 'select connection_id, payload from finance.deleted_records',
    connections: 'select connection_id from finance.connections',
    past: `select connection_id, payload from history.as_of('bills', 'infinity')`,
    of_one: `select connection_id, payload from history.as_of('bills', 'infinity', 'rival')`,
    changes: `select connection_id, record_id from history.changed_since('bills')`,
    marts: 'select connection_id, secret from marts.totals',
  };
  /** Makes objects that a login owns. Removal drops none of them, because somebody may want them. */
  const ownSomething = async (login: string): Promise<void> => {
    await admin.query(`create schema own_${login} authorization ${login}`);
    onTestFinished(async () => {
      await admin.query(`drop schema own_${login} cascade; drop owned by ${login}; drop role ${login}`);
    });
  };
  const declareAll = async (session: pg.Client, how = ''): Promise<void> => {
    for (const [name, statement] of Object.entries(everyRelation))
      await session.query(`declare ${name} cursor ${how} for ${statement}`);
  };
  const fetchAll = async (session: pg.Client): Promise<string> => {
    const found: unknown[] = [];
    for (const name of Object.keys(everyRelation)) {
      await session.query('savepoint before').catch(() => undefined);
      const fetched = session.query<object>(`fetch all from ${name}`).then(({ rows: got }) => got, String);
      found.push(await fetched);
      await session.query('rollback to before').catch(() => undefined);
    }
    return JSON.stringify(found);
  };

  test("leaves its cursors no other connection's rows, and drops the login despite its default privileges", async () => {
    const { href, username } = await reader('cursor', ['acme']);
    const session = await connectAs(href);
    // These make `drop role` fail.
    await session.query('set default_transaction_read_only = off');
    await session.query('alter default privileges grant select on tables to public');
    await session.query('begin');
    await declareAll(session);
    expect(await removeReader(warehouse, 'cursor')).toBeNull();
    expect(await fetchAll(session)).not.toMatch(/rival|planted/);
    expect((await admin.query('select from pg_roles where rolname = $1', [username])).rowCount).toBe(0);
    await session.end().catch(() => undefined);
  });

  test('ends the session and blocks the login, even if the role has to stay', async () => {
    const { href, username } = await reader('left', ['acme']);
    await ownSomething(username);
    const session = await connectAs(href);
    await session.query('begin');
    await declareAll(session);
    expect(await removeReader(warehouse, 'left')).toContain(`drop role ${username};`);
    expect(await fetchAll(session)).not.toMatch(/acme|own|rival|planted/);
    await expect(session.query('select 1')).rejects.toThrow();
    await expect(connectAs(href)).rejects.toThrow(/not permitted to log in/);
    expect(await readVisibleConnections('left')).toBeUndefined();
  });

  test('does not wait for a session that locks the row of its own login', async () => {
    const { href, username } = await reader('holds', ['acme']);
    const session = await connectAs(href);
    await session.query('set default_transaction_read_only = off');
    await session.query('begin');
    await session.query(`alter role current_user password 'mine'`);
    await session.query(`alter role current_user set work_mem = '1MB'`);
    expect(await removeReader(warehouse, 'holds')).toBeNull();
    await expect(session.query('commit')).rejects.toThrow();
    expect((await admin.query('select from pg_roles where rolname = $1', [username])).rowCount).toBe(0);
  }, 20_000);

  test('leaves prepared statements, cursors with hold and views empty for anyone who takes over the remaining login', async () => {
    const { username } = await reader('views', ['acme']);
    await ownSomething(username);
    await admin.query(`grant usage on schema own_${username} to public`);
    const session = await connectAs(adminUrl);
    await session.query(`set session authorization ${username}; set default_transaction_read_only = off`);
    for (const [name, statement] of Object.entries(everyRelation)) {
      await session.query(`create view own_${username}.${name} with (security_barrier) as ${statement}`);
      await session.query(`prepare ${name} as ${statement}`);
      expect(JSON.stringify((await session.query(`execute ${name}`)).rows)).not.toMatch(/rival|planted/);
    }
    await session.query('begin');
    await declareAll(session, 'with hold');
    await removeReader(warehouse, 'views');
    await session.query('commit').catch(() => undefined);
    expect(await fetchAll(session)).not.toMatch(/rival|planted/);
    for (const name of Object.keys(everyRelation))
      for (const statement of [`execute ${name}`, `table own_${username}.${name}`]) {
        const shown = await session.query<object>(statement).then(({ rows: got }) => got, String);
        expect(JSON.stringify(shown), statement).not.toMatch(/acme|own-|rival|planted/);
      }
    await session.end();
  });

  test.each(['', 'set role'])("leaves a member's cursor no other connection's rows: %s", async (how) => {
    const name = how === '' ? 'lent' : 'lent-as-role';
    const { username } = await reader(name, ['acme']);
    const person = await connectAsMember(username);
    if (how !== '') await person.query(`set role ${username}`);
    await person.query('begin');
    await declareAll(person);
    await removeReader(warehouse, name);
    expect(await fetchAll(person)).not.toMatch(/rival|planted/);
    await person.end();
  });
});

test('a login that lost daybook_reader is refused, by name, in a cursor it already opened', async () => {
  const reading = await connectAsMember('daybook_reader');
  const { rows: me } = await reading.query<{ me: string }>('select current_user as me');
  await reading.query('begin; declare c cursor for select * from finance.deleted_records');
  await admin.query(`revoke daybook_reader from ${me[0]?.me ?? ''}`);
  await expect(reading.query('fetch all from c')).rejects.toThrow(
    `${me[0]?.me ?? ''} has no right to read finance`,
  );
  await reading.end();
});

test('a login with direct grants on finance.connections, finance.deleted_records or history still sees all rows', async () => {
  for (const [grants, statement] of [
    ['select on finance.connections', 'select distinct connection_id from finance.connections'],
    ['select on finance.deleted_records', 'select distinct connection_id from finance.deleted_records'],
    [
      'execute on function history.as_of(text, timestamptz)',
      `select connection_id from history.as_of('bills', now())`,
    ],
    [
      'execute on function history.changed_since',
      `select distinct connection_id from history.changed_since('bills')`,
    ],
  ] as const) {
    const login = await connectAsMember('');
    const { rows: me } = await login.query<{ me: string }>('select current_user as me');
    await owner.query(`grant usage on schema finance, history to ${me[0]?.me ?? ''}`);
    await owner.query(`grant ${grants} to ${me[0]?.me ?? ''}`);
    expect((await login.query(statement)).rowCount, statement).toBeGreaterThan(1);
    await login.end();
  }
});

test('a login with direct grants on tables still sees all rows', async () => {
  const login = await connectAsMember('');
  const { rows: me } = await login.query<{ me: string }>('select current_user as me');
  await owner.query(`grant usage on schema finance, marts to ${me[0]?.me ?? ''}`);
  await owner.query(`grant select on finance.bills, marts.totals to ${me[0]?.me ?? ''}`);
  expect((await login.query('select distinct connection_id from finance.bills')).rowCount).toBeGreaterThan(1);
  expect((await login.query('select from marts.totals')).rowCount).toBe(2);
  await login.end();
});

test("a query for the reader's connection uses an index, and estimates for readers of all ignore the rules", async () => {
  const plan = async (client: pg.Client, statement: string): Promise<string> =>
    (await client.query<{ 'QUERY PLAN': string }>(`explain ${statement}`)).rows
      .map((line) => line['QUERY PLAN'])
      .join('\n');
  await owner.query(`
    create index if not exists by_connection on ${await shownSchema()}.totals (connection_id);
    insert into ${await shownSchema()}.totals select 'c' || n, '', '' from generate_series(1, 20000) n;
    insert into finance.bills (connection_id, id, _run_id, _first_seen_at, _changed_at, _content_hash)
      select 'c' || n % 1000, n, '', now(), now(), '' from generate_series(1, 20000) n;
    insert into sync.tombstones (connection_id, resource, record_id, version, deleted_at, source)
      select 'c' || n % 1000, 'bills', n, now(), now(), 'event' from generate_series(1, 20000) n;
    analyze`);
  onTestFinished(async () => {
    await owner.query(
      `delete from finance.bills where connection_id like 'c%'; delete from sync.tombstones where connection_id like 'c%'`,
    );
  });
  for (const relation of ['marts.totals', 'finance.bills'])
    expect(await plan(tenant, `select * from ${relation} where connection_id = 'acme'`), relation).toContain(
      `Index Cond: (connection_id = 'acme'::text)`,
    );
  expect(await plan(tenant, 'select * from finance.deleted_records')).toMatch(
    /Index Cond: \(connection_id = ANY \(\(InitPlan \d+\)\.col1\)\)|Index Cond: \(connection_id = ANY \(\$\d+\)\)/,
  );
  for (const relation of ['marts.totals', 'finance.bills']) {
    const planned = /^Seq Scan on \w+ {2}\(cost=\S+ rows=(\d+) /.exec(
      await plan(everything, `select * from ${relation}`),
    );
    const held = await rows(warehouse, `select count(*)::int as count from ${relation}`);
    expect(Number(planned?.[1]) / Number(held[0]?.count), relation).toBeGreaterThan(0.99);
  }
});

async function addCompany(connectionId: string, word: string): Promise<void> {
  await add(connectionId);
  const memo = `"${word}"`;
  const record = (id: string): string => `${word.replaceAll(' ', '-')}-${id}`;
  const landed = {
    bills: [
      bill(record('bill'), { memo, line_items: list(billLine({ description: memo })) }),
      bill(record('gone'), { memo }),
    ],
    expenses: [expense(record('expense'))],
    customers: [customer(record('customer'))],
    items: [item(record('item'))],
  };
  for (const [stream, records] of Object.entries(landed))
    await land(warehouse, { connectionId, stream, pages: [records] });
  await landEvents(warehouse, {
    connectionId,
    events: [buildDeletionEvent(record('gone'), '2026-11-01T00:00:00Z')],
  });
}

async function add(connectionId: string): Promise<void> {
  await addConnection(warehouse, testKey, {
    connectionId,
    apiAddress: testApiAddress,
    token: `token of ${connectionId}`,
    expandPlatformData: false,
  });
}

async function pin(connectionId: string): Promise<void> {
  await owner.query(
    `update sync.connections set service_connection_id = 'service ' || connection_id, org_id = 'org' where connection_id = $1`,
    [connectionId],
  );
}

async function reader(name: string, connections: string[]): Promise<URL> {
  const { url: made_, statements } = await addReader(warehouse, {
    reader: name,
    connections,
    databaseUrl: url,
  });
  expect(statements).toBeNull();
  made.push(made_.username);
  return made_;
}

async function readVisibleConnections(name: string): Promise<readonly string[] | undefined> {
  return (await listReaders(warehouse)).find((one) => one.reader === name)?.connections;
}

async function beyond(name: string): Promise<readonly string[] | undefined> {
  return (await listReaders(warehouse)).find((one) => one.reader === name)?.beyond;
}

/** Makes the tables of a build: a mart with connections, and one without. */
async function build(word: string): Promise<'marts_a' | 'marts_b'> {
  const schema = await prepareSchemas(owner);
  await owner.query(`
    create table ${schema}.totals as
      select connection_id, case connection_id when 'acme' then 'own' else 'planted' end as secret, '${word}' as build
      from (values ('acme'), ('rival')) c (connection_id);
    create table ${schema}.days as select date '2026-01-01' as day;
    comment on table ${schema}.totals is 'totals'; comment on table ${schema}.days is 'days'`);
  return schema;
}

async function publish(word: string): Promise<void> {
  await publishMarts(owner, { schema: await build(word) });
}

/** Publishes as 0.5.0 did. */
async function publishAsBefore(word: string): Promise<void> {
  const schema = await build(word);
  await owner.query(`
    begin;
    create or replace view marts.totals as select connection_id, secret, build from ${schema}.totals;
    create or replace view marts.days as select day from ${schema}.days;
    grant usage on schema marts to daybook_reader;
    grant select on all tables in schema marts to daybook_reader;
    insert into sync.settings (name, value) values ('marts_schema', '${schema}')
      on conflict (name) do update set value = excluded.value;
    commit`);
}

async function shownSchema(): Promise<string> {
  const [setting] = await rows(warehouse, `select value from sync.settings where name = 'marts_schema'`);
  return String(setting?.value);
}

async function connectAsMember(roles: string): Promise<pg.Client> {
  const name = `person_${randomBytes(4).toString('hex')}`;
  await admin.query(`create role ${name} login password 'reads'`);
  if (roles !== '') await admin.query(`grant ${roles} to ${name}`);
  await admin.query(`grant connect on database ${new URL(url).pathname.slice(1)} to ${name}`);
  made.unshift(name);
  const login = new URL(url);
  login.username = name;
  login.password = 'reads';
  return connectAs(login.href);
}

async function connectAs(of: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: of });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
