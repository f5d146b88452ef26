import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { describeBlockers, watchBlockers, type BlockerWatch } from '../transactions/blockers.ts';
import { buildIndex } from './build-index.ts';
import { MigrationFailed, MigrationRefused, SchemaOutdated } from '../errors.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import { migrations } from '../migrations/index.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { readerRole } from '../readers/reader-role.ts';
import { ownNamesAlone, setRoleSettings } from './role-settings.ts';
import { shareWithTenants } from '../readers/share-with-tenants.ts';
import { isLockRefused, LockHeld, lockTimeout } from '../transactions/taking-locks.ts';

export interface MigrateResult {
  /** Migrations that ran now. */
  applied: string[];
  /** What an administrator has to run, where the role for readers may not be created by us; else null. */
  readerSql: string | null;
}

/**
 * Brings the database to this release, beside workers and readers. Safe to run twice and by many at once; killed in the middle, the next one
 * goes on. `onWait` hears who is in the way of a migration.
 * Throws MigrationRefused when the database is too old, not UTF-8, another role's, or holds schemas of our names that we did not make, and LockHeld.
 */
export async function migrate(
  warehouse: Warehouse,
  onWait: (text: string) => void = () => undefined,
): Promise<MigrateResult> {
  await refuseForeignDatabase(warehouse.db);
  await makeMigrationTables(warehouse);
  const applied: string[] = [];
  for (const name of await missingMigrations(warehouse.db))
    if (await runMigration(warehouse, name, onWait)) applied.push(name);
  const readerSql = await inTransaction(warehouse.pool, async ({ client }) => {
    await client.query(ownNamesAlone);
    const left = await readerRole(client);
    await setRoleSettings(client);
    return left;
  });
  await shareWithTenants(warehouse);
  return { applied, readerSql };
}

/** Throws SchemaOutdated when the database lacks a migration of this release; newer databases are fine. */
export async function checkSchema({ db }: Warehouse): Promise<void> {
  const missing = await missingMigrations(db);
  if (missing.length > 0)
    throw new SchemaOutdated({ missing, hasWarehouse: missing.length < Object.keys(migrations).length });
}

async function missingMigrations(db: Warehouse['db']): Promise<string[]> {
  if (!(await hasMigrationTable(db))) return Object.keys(migrations);
  const { rows } = await sql<{ name: string }>`select name from sync.migrations`.execute(db);
  const done = new Set(rows.map(({ name }) => name));
  return Object.keys(migrations).filter((name) => !done.has(name));
}

/**
 * Returns whether it was missing still. Kysely's own runner is not used: it takes an advisory lock, which everybody who may log
 * in can hold. Its tables are the same.
 *
 * While a migration waits for a lock, everybody else who wants to read waits behind it: so briefly, and often. What is Daybook's own
 * ends; somebody else's transaction may last as long as a long query.
 */
async function runMigration(
  { pool }: Warehouse,
  name: string,
  onWait: (text: string) => void,
): Promise<boolean> {
  const started = performance.now();
  const watch = watchBlockers(pool, (who) => {
    onWait(`migration ${name} waits for ${who}`);
  });
  try {
    for (;;) {
      try {
        const migration = migrations[name];
        if (migration !== undefined && 'indexes' in migration)
          for (const index of migration.indexes) await buildIndex({ pool, watch }, index);
        return await inTransaction(pool, ({ db }) => runMissing(db, { name, watch }));
      } catch (error) {
        if (!isLockRefused(error)) throw new MigrationFailed(name, error);
        const strangers = watch.lastSeen.filter(({ isOurs }) => !isOurs);
        if (strangers.length > 0 && performance.now() - started > timeoutMilliseconds)
          throw new LockHeld(`The migration ${name}`, [describeBlockers(strangers)]);
        await wait(500 + Math.random() * 1_000);
      }
    }
  } finally {
    await watch.stop();
  }
}

/** Longer than the query of a BI tool that the docs allow. */
const timeoutMilliseconds = 15 * 60_000;

/** As Kysely makes them. Two that make them at once get in each other's way, and the second finds them. */
async function makeMigrationTables({ db, pool }: Warehouse): Promise<void> {
  if (await hasMigrationTable(db)) return;
  try {
    await inTransaction(pool, ({ db }) => sql.raw(migrationTables).execute(db));
  } catch (error) {
    if (!(await hasMigrationTable(db))) throw error;
  }
}

const migrationTables = `
  create schema if not exists sync;
  create table if not exists sync.migrations (
    name varchar(255) not null primary key,
    "timestamp" varchar(255) not null
  );
  create table if not exists sync.migrations_lock (
    id varchar(255) not null primary key,
    is_locked integer not null default 0
  );
  insert into sync.migrations_lock (id) values ('migration_lock') on conflict do nothing;
`;

/** The row is the lock: whether it is missing is looked at once nobody else migrates. */
async function runMissing(
  db: Warehouse['db'],
  { name, watch }: { name: string; watch: BlockerWatch },
): Promise<boolean> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  if (rows[0] !== undefined) watch.watch(rows[0].pid);
  await sql.raw(`set local lock_timeout = '${lockTimeout}'; ${ownNamesAlone}`).execute(db);
  await sql`select from sync.migrations_lock where id = 'migration_lock' for update`.execute(db);
  const done = await sql`select from sync.migrations where name = ${name}`.execute(db);
  if (done.rows.length > 0) return false;
  const migration = migrations[name];
  if (migration !== undefined && 'up' in migration) await migration.up(db);
  const at = new Date().toISOString();
  await sql`insert into sync.migrations (name, "timestamp") values (${name}, ${at})`.execute(db);
  return true;
}

async function refuseForeignDatabase(db: Warehouse['db']): Promise<void> {
  const { rows } = await sql<Server>`
    select
      current_user::text as role,
      (select pg_get_userbyid(nspowner)::text from pg_namespace where nspname = 'sync') as owner,
      current_setting('server_version_num')::int as version,
      current_setting('server_encoding') as encoding,
      current_database() as database,
      array(
        select nspname::text from pg_namespace
        where nspname in
          ('finance', 'history', 'sync', 'staging', 'intermediate', 'marts', 'marts_a', 'marts_b', 'iceberg')
        order by 1
      ) as schemas
  `.execute(db);
  const [server] = rows;
  if (server === undefined) return;
  if (server.version < 150_000) {
    throw new MigrationRefused(
      `Postgres ${Math.floor(server.version / 10_000)} is too old: Daybook needs 15 or newer.`,
    );
  }
  if (server.encoding !== 'UTF8') {
    throw new MigrationRefused(
      `Database ${server.database} is in ${server.encoding}: Daybook needs one in UTF8 (create database … encoding 'UTF8').`,
    );
  }
  if (server.schemas.length > 0 && !(await hasMigrationTable(db))) {
    throw new MigrationRefused(
      `Database ${server.database} already has ${server.schemas.join(', ')}, which Daybook did not make. Give Daybook a database of its own.`,
    );
  }
  // What is made belongs to who makes it: the owner could neither use it nor go on.
  if (server.owner !== null && server.owner !== server.role) {
    throw new MigrationRefused(
      `The warehouse in ${server.database} belongs to ${server.owner}, and DATABASE_URL logs in as ${server.role}: migrate it as ${server.owner}.`,
    );
  }
}

interface Server {
  readonly role: string;
  /** Of the schema `sync`; null where there is none. */
  readonly owner: string | null;
  readonly version: number;
  readonly encoding: string;
  readonly database: string;
  readonly schemas: readonly string[];
}

async function hasMigrationTable(db: Warehouse['db']): Promise<boolean> {
  const { rows } = await sql<{
    found: boolean;
  }>`select to_regclass('sync.migrations') is not null as found`.execute(db);
  return rows[0]?.found === true;
}
