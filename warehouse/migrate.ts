import { setTimeout as wait } from 'node:timers/promises';
import { sql, type Transaction } from 'kysely';
import { MigrationRefused, SchemaOutdated } from './errors.ts';
import { inTransaction } from './in-transaction.ts';
import { migrations } from './migrations/index.ts';
import type { Warehouse } from './open-warehouse.ts';
import { readerRole } from './reader-role.ts';
import { shareWithTenants } from './readers/share-with-tenants.ts';
import type { Database } from './tables/database.ts';
import { holdersOf, isLockRefused, LockHeld, lockTimeout } from './taking-locks.ts';

export interface MigrateResult {
  /** Migrations that ran now. */
  applied: string[];
  /** What an administrator has to run, where the role for readers may not be created by us; else null. */
  readerSql: string | null;
}

/**
 * Brings the database to this release. Safe to run twice and by many at once.
 * Throws MigrationRefused when the database is too old, not UTF-8, or holds schemas of our names that we did not make, and LockHeld.
 */
export async function migrate(warehouse: Warehouse): Promise<MigrateResult> {
  await refuseForeignDatabase(warehouse.db);
  // A database that a newer release migrated lacks nothing.
  const applied = (await missingMigrations(warehouse.db)).length > 0 ? await runMigrations(warehouse) : [];
  const readerSql = await inTransaction(warehouse.pool, readerRole);
  await shareWithTenants(warehouse);
  return { applied, readerSql };
}

/** Throws SchemaOutdated when the database lacks a migration of this release; newer databases are fine. */
export async function checkSchema({ db }: Warehouse): Promise<void> {
  const missing = await missingMigrations(db);
  if (missing.length > 0) throw new SchemaOutdated(missing);
}

async function missingMigrations(db: Warehouse['db']): Promise<string[]> {
  if (!(await hasMigrationTable(db))) return Object.keys(migrations);
  const { rows } = await sql<{ name: string }>`select name from sync.migrations`.execute(db);
  const done = new Set(rows.map(({ name }) => name));
  return Object.keys(migrations).filter((name) => !done.has(name));
}

/**
 * All that are missing, in one transaction. Kysely's own runner is not used: it takes an advisory lock, which everybody who may log
 * in can hold. Its tables are the same.
 */
async function runMigrations({ db, pool }: Warehouse): Promise<string[]> {
  await makeMigrationTables(db);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction().execute(runMissing);
    } catch (error) {
      if (!isLockRefused(error)) throw new Error('A migration failed and was rolled back.', { cause: error });
      const holders = await holdersOf(pool);
      // An export of our own ends.
      if (holders.length > 0 && attempt >= attempts) throw new LockHeld('The migration', holders);
      await wait(1_000);
    }
  }
}

const attempts = 60;

/** As Kysely makes them. Two that make them at once get in each other's way, and the second finds them. */
async function makeMigrationTables(db: Warehouse['db']): Promise<void> {
  if (await hasMigrationTable(db)) return;
  try {
    await db.transaction().execute((transaction) => sql.raw(migrationTables).execute(transaction));
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

/** The row is the lock: what is missing is looked up once nobody else migrates. */
async function runMissing(transaction: Transaction<Database>): Promise<string[]> {
  await sql`select from sync.migrations_lock where id = 'migration_lock' for update`.execute(transaction);
  await sql.raw(`set local lock_timeout = '${lockTimeout}'`).execute(transaction);
  const missing = await missingMigrations(transaction);
  for (const name of missing) {
    await migrations[name]?.up(transaction);
    const at = new Date().toISOString();
    await sql`insert into sync.migrations (name, "timestamp") values (${name}, ${at})`.execute(transaction);
  }
  return missing;
}

async function refuseForeignDatabase(db: Warehouse['db']): Promise<void> {
  const { rows } = await sql<{ version: number; encoding: string; database: string; schemas: string[] }>`
    select
      current_setting('server_version_num')::int as version,
      current_setting('server_encoding') as encoding,
      current_database() as database,
      array(
        select nspname::text from pg_namespace n
        where nspname in ('finance', 'history', 'sync', 'staging', 'intermediate', 'marts')
          and exists (select from pg_class where relnamespace = n.oid)
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
}

async function hasMigrationTable(db: Warehouse['db']): Promise<boolean> {
  const { rows } = await sql<{
    found: boolean;
  }>`select to_regclass('sync.migrations') is not null as found`.execute(db);
  return rows[0]?.found === true;
}
