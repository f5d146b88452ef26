import { sql, type Kysely } from 'kysely';

/** Locks that only Daybook can take. Everybody who may log in can take an advisory lock, and hold it for ever. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(locks).execute(db);
}

const locks = `
  create table sync.locks (
    name text collate "C" primary key,
    pid integer not null,
    role_id oid not null,
    began_at timestamptz not null
  );
  comment on table sync.locks is
    'What one session at a time may do. Locks that end with a transaction are rows that are never seen: they are removed by who made them';
  comment on column sync.locks.name is 'What it is: export, marts/postgres, marts/lake; of a transaction: name/…, identity/…, schedules/…';
  comment on column sync.locks.pid is 'Session that has it; when there is no such session any more, it is free';
  comment on column sync.locks.role_id is 'Role that the session logged in as';
  comment on column sync.locks.began_at is 'When the session began';

  create function sync.is_held_by_us(key bigint) returns boolean
  language plpgsql as $$
  begin
    -- Sessions are remembered until the transaction ends, and those that came meanwhile would be missing.
    perform pg_stat_clear_snapshot();
    return exists (
      select from pg_locks held join pg_stat_activity holder using (pid)
      where held.locktype = 'advisory' and held.granted and held.objsubid = 1
        and held.database = (select oid from pg_database where datname = current_database())
        and held.classid = ((key >> 32) & 4294967295)::oid and held.objid = (key & 4294967295)::oid
        and pg_has_role(holder.usesysid, (select nspowner from pg_namespace where nspname = 'sync'), 'member')
    );
  end $$;
  comment on function sync.is_held_by_us(bigint) is
    'Whether a session of the owner has the advisory lock: a worker, and no reader';

  create function sync.wait_for_old_release(key bigint) returns void
  language plpgsql set lock_timeout = '1s' as $$
  begin
    while not pg_try_advisory_xact_lock(key) and sync.is_held_by_us(key) loop
      begin
        perform pg_advisory_xact_lock(key);
        return;
      exception when lock_not_available then null;
      end;
    end loop;
  end $$;
  comment on function sync.wait_for_old_release(bigint) is
    'Takes the advisory lock that releases before 0.6 take, unless it is a stranger who has it: rows are the locks since';

  create function sync.lock(lock_name text) returns void
  language plpgsql as $$
  begin
    insert into sync.locks (name, pid, role_id, began_at)
      values (lock_name, pg_backend_pid(), session_user::regrole, now());
    delete from sync.locks where name = lock_name;
    perform sync.wait_for_old_release(hashtextextended(lock_name, 0));
  end $$;
  comment on function sync.lock(text) is
    'Waits until no other transaction has the lock, and has it until this one ends: a second row of the name waits for the first';

  create function sync.try_lock(lock_name text, key bigint) returns boolean
  language plpgsql as $$
  declare began timestamptz;
  begin
    select backend_start into began from pg_stat_activity where pid = pg_backend_pid();
    perform pg_stat_clear_snapshot();
    insert into sync.locks as had (name, pid, role_id, began_at)
      values (lock_name, pg_backend_pid(), session_user::regrole, began)
    on conflict (name) do update set pid = excluded.pid, role_id = excluded.role_id, began_at = excluded.began_at
      where not exists (
        select from pg_stat_activity a
        where a.pid = had.pid and a.usesysid = had.role_id and coalesce(a.backend_start, had.began_at) = had.began_at
      );
    if not found then return false; end if;
    if pg_try_advisory_lock(key) or not sync.is_held_by_us(key) then return true; end if;
    delete from sync.locks where name = lock_name;
    return false;
  end $$;
  comment on function sync.try_lock(text, bigint) is
    'Takes the lock for as long as this session lives, unless another session has it. The key is that of releases before 0.6';
`;
