import { sql, type Kysely } from 'kysely';

/** Marts are built on Spark too. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(sparkMarts).execute(db);
}

const sparkMarts = `
  alter table sync.runs drop constraint runs_target_check;
  alter table sync.runs add constraint runs_target_check check (target in ('postgres', 'lake', 'spark')) not valid;
  comment on column sync.runs.target is 'Of a build of marts, where they are built: postgres, lake or spark; null: no such run';

  alter table sync.marts drop constraint marts_target_check;
  alter table sync.marts add constraint marts_target_check check (target in ('postgres', 'lake', 'spark'));
  comment on column sync.marts.target is 'Where they are: postgres, lake or spark';
  comment on column sync.marts.snapshot_id is 'On the lake, and on Spark: the snapshot they were built on';

  create table sync.marts_spark_lock (never smallint primary key);
  comment on table sync.marts_spark_lock is
    'Always empty. One transaction at a time locks it: the one of the process that builds the marts with Spark';
  comment on column sync.marts_spark_lock.never is 'Nothing';

  comment on column iceberg.iceberg_tables.table_namespace is
    'finance, marts, or what Spark writes: marts_spark, and marts_spark_build while it builds';
  comment on column iceberg.iceberg_namespace_properties.namespace is
    'finance, marts, or what Spark writes: marts_spark, and marts_spark_build while it builds';
`;
