import { sql, type Kysely } from 'kysely';

/** Which hosts keep files that an erasure has to reach. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(hosts).execute(db);
}

const hosts = `
  create table sync.hosts (
    host_id uuid primary key,
    name text not null,
    seen_at timestamptz not null default clock_timestamp(),
    built_at timestamptz,
    clear_since timestamptz
  );
  comment on table sync.hosts is 'Homes in which workers and builds of marts keep files, so that an erasure reaches all of them';
  comment on column sync.hosts.host_id is 'What the file host-id of the home says';
  comment on column sync.hosts.name is 'Host name and path of the home';
  comment on column sync.hosts.seen_at is 'When a worker or a build there last said so, by the database clock';
  comment on column sync.hosts.built_at is 'When marts were last built there; null: never';
  comment on column sync.hosts.clear_since is 'When an erasure asked that its files of snapshots and builds go; null: nothing is to be cleared';
`;
