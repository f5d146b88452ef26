import { sql, type Kysely } from 'kysely';

/** The catalog of the Iceberg tables: the tables of its SQL catalogs, as PyIceberg and Spark's JdbcCatalog know them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(catalog).execute(db);
}

/** Made here, and not by the program that writes to them, so that their rights are those of a migrated database. */
const catalog = `
  create schema iceberg;
  comment on schema iceberg is 'Catalog of the Iceberg tables in the lake, for their readers: no data';

  create table iceberg.iceberg_tables (
    catalog_name varchar(255) not null,
    table_namespace varchar(255) not null,
    table_name varchar(255) not null,
    metadata_location varchar(1000),
    previous_metadata_location varchar(1000),
    iceberg_type varchar(5),
    primary key (catalog_name, table_namespace, table_name)
  );
  comment on table iceberg.iceberg_tables is 'Where the current metadata of each Iceberg table is';
  comment on column iceberg.iceberg_tables.catalog_name is 'daybook';
  comment on column iceberg.iceberg_tables.table_namespace is 'finance, or marts';
  comment on column iceberg.iceberg_tables.table_name is 'Table of the snapshots, mart, or snapshots, which lists those that are complete';
  comment on column iceberg.iceberg_tables.metadata_location is 'Path of its metadata';
  comment on column iceberg.iceberg_tables.previous_metadata_location is 'Path of its metadata before the last commit';
  comment on column iceberg.iceberg_tables.iceberg_type is 'Null, which counts as TABLE';

  create table iceberg.iceberg_namespace_properties (
    catalog_name varchar(255) not null,
    namespace varchar(255) not null,
    property_key varchar(255) not null,
    property_value varchar(1000),
    primary key (catalog_name, namespace, property_key)
  );
  comment on table iceberg.iceberg_namespace_properties is
    'Namespaces of the catalog; whoever changes the tables of one locks its row';
  comment on column iceberg.iceberg_namespace_properties.catalog_name is 'daybook';
  comment on column iceberg.iceberg_namespace_properties.namespace is 'finance, or marts';
  comment on column iceberg.iceberg_namespace_properties.property_key is 'exists';
  comment on column iceberg.iceberg_namespace_properties.property_value is 'true';
  insert into iceberg.iceberg_namespace_properties
    values ('daybook', 'finance', 'exists', 'true'), ('daybook', 'marts', 'exists', 'true');
`;
