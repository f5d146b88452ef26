import { Migrator, sql } from 'kysely';
import { MigrationRefused, SchemaOutdated } from './errors.ts';
import { migrations } from './migrations/index.ts';
import type { Warehouse } from './open-warehouse.ts';
import { readerRole } from './reader-role.ts';

export interface MigrateResult {
  /** Migrations that ran now. */
  applied: string[];
  /** What an administrator has to run, where the role for readers may not be created by us; else null. */
  readerSql: string | null;
}

/** Any number, as long as it is always the same: migrations of one database run one after another. */
const migrationLock = 7_232_019_551;

/**
 * Brings the database to this release. Safe to run twice and by many at once.
 * Throws MigrationRefused when the database is too old, not UTF-8, or holds schemas of our names that we did not make.
 */
export async function migrate(warehouse: Warehouse): Promise<MigrateResult> {
  return warehouse.db.connection().execute(async (db) => {
    await sql`select pg_advisory_lock(${migrationLock})`.execute(db);
    try {
      await refuseForeignDatabase(db);
      // A database that a newer release migrated lacks nothing; the migrator would call what it does not know corrupt.
      const missing = await missingMigrations(db);
      if (missing.length > 0) await runMigrations(db);
      return { applied: missing, readerSql: await readerRole(db) };
    } finally {
      await sql`select pg_advisory_unlock(${migrationLock})`.execute(db);
    }
  });
}

/** Throws SchemaOutdated when the database lacks a migration of this release; newer databases are fine. */
export async function checkSchema({ db }: Warehouse): Promise<void> {
  const missing = await missingMigrations(db);
  if (missing.length > 0) throw new SchemaOutdated(missing);
}

async function missingMigrations(db: Warehouse['db']): Promise<string[]> {
  const present = (await hasMigrationTable(db)) ? await migratorOf(db).getMigrations() : [];
  const done = new Set(present.filter(({ executedAt }) => executedAt !== undefined).map(({ name }) => name));
  return Object.keys(migrations).filter((name) => !done.has(name));
}

async function runMigrations(db: Warehouse['db']): Promise<void> {
  const { error } = await migratorOf(db).migrateToLatest();
  if (error !== undefined) throw new Error('A migration failed and was rolled back.', { cause: error });
}

function migratorOf(db: Warehouse['db']): Migrator {
  return new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
    migrationTableSchema: 'sync',
    migrationTableName: 'migrations',
    migrationLockTableName: 'migrations_lock',
  });
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
