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
  /** Names of the migrations that ran now. */
  applied: string[];
  /** SQL that an administrator has to run if we may not create the role for readers; otherwise null. */
  readerSql: string | null;
}

/**
 * Brings the database to this release, while workers and readers run. Idempotent and safe to run concurrently; after a crash, the next call goes on.
 * `onWait` is told which sessions block a migration. Throws MigrationRefused if the database is too old, not UTF-8, another role's, or holds schemas
 * of our names that we did not create, and LockHeld.
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

/** Throws SchemaOutdated if the database lacks a migration of this release; newer databases are fine. */
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
 * Runs a migration if it is still missing, and returns whether it was. Kysely's own runner is not used: it takes an advisory lock, which everybody
 * who may log in can hold. Its tables are the same.
 *
 * While a migration waits for a lock, all readers queue behind it, so it waits briefly, and often. Daybook's own transactions end soon; another one
 * may last as long as a long query.
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

/** Longer than the longest query of a BI tool that the docs allow. */
const timeoutMilliseconds = 15 * 60_000;

/** Creates the tables as Kysely does. If two processes do so at once, one of them may fail, and then finds the tables. */
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

/** Runs a migration under the lock of a row. Whether it is missing is checked once nobody else migrates. */
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
  // Objects belong to the role that creates them: the owner could neither use them nor go on.
  if (server.owner !== null && server.owner !== server.role) {
    throw new MigrationRefused(
      `The warehouse in ${server.database} belongs to ${server.owner}, and DATABASE_URL logs in as ${server.role}: migrate it as ${server.owner}.`,
    );
  }
}

interface Server {
  readonly role: string;
  /** Owner of the schema `sync`; null if there is none. */
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
