import { sql, type Kysely } from 'kysely';

/** A lock that belongs to a session has no owner behind a pooler: two clients had one at once, and it outlived both. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(locksOfTransactions).execute(db);
}

const locksOfTransactions = `
  drop function sync.try_lock(text, bigint);
  create or replace function sync.lock(lock_name text) returns void
  language plpgsql as $$
  begin
    insert into sync.locks (name) values (lock_name);
    delete from sync.locks where name = lock_name;
    perform sync.wait_for_old_release(hashtextextended(lock_name, 0));
  end $$;
  delete from sync.locks;
  alter table sync.locks drop column pid, drop column role_id, drop column began_at;
  comment on table sync.locks is
    'Locks that end with a transaction: rows that are never seen, for they are removed by who made them';
  comment on column sync.locks.name is 'What is locked: name/…, identity/…, schedules/…';

  ${lockTable('export_lock', 'makes or publishes a snapshot')}
  ${lockTable('marts_postgres_lock', 'builds the marts in Postgres')}
  ${lockTable('marts_lake_lock', 'builds the marts on a snapshot')}
`;

/** Rows would be of no use: what locks a row has an ID, and vacuum waits for it. */
function lockTable(name: string, deed: string): string {
  return `
    create table sync.${name} (never smallint primary key);
    comment on table sync.${name} is 'Always empty. One transaction at a time locks it: the one of the process that ${deed}';
    comment on column sync.${name}.never is 'Nothing';`;
}
