import pg from 'pg';
import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import { beginTimeline } from '../../support/losing-commits.ts';

/** A standby of the database, limited to the rows of one connection and the positions of the sequences. */
export interface Standby {
  /** Copies everything committed so far. */
  receive(connectionId: string): Promise<void>;
  /** Promotes the standby: commits since the last `receive` are lost. */
  takeOver(connectionId: string): Promise<void>;
  close(): Promise<void>;
}

/** `adminUrl` connects as superuser, who may write rows without triggers. */
export async function openStandby(warehouse: Warehouse, adminUrl: string): Promise<Standby> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  const tables = await readTables(admin);
  const sequences = await readNames(admin, "select oid::regclass as name from pg_class where relkind = 'S'");
  await admin.query('create schema standby');
  for (const { name, copy } of tables) await admin.query(`create unlogged table ${copy} (like ${name})`);
  let positions: string[] = [];
  return {
    async receive(connectionId) {
      const own = `where connection_id = ${pg.escapeLiteral(connectionId)}`;
      await inOneTransaction(
        admin,
        tables.flatMap(({ name, copy, columns }) => [
          `delete from ${copy}`,
          `insert into ${copy} (${columns}) select ${columns} from ${name} ${own}`,
        ]),
      );
      positions = await readNames(
        admin,
        sequences
          .map(
            (name) =>
              `select format('setval(%L, %s, %L)', '${name}', last_value, is_called) as name from ${name}`,
          )
          .join(' union all '),
      );
    },
    async takeOver(connectionId) {
      const own = `where connection_id = ${pg.escapeLiteral(connectionId)}`;
      await inOneTransaction(admin, [
        'set local session_replication_role = replica',
        ...tables.flatMap(({ name, copy, columns }) => [
          `delete from ${name} ${own}`,
          `insert into ${name} (${columns}) overriding system value select ${columns} from ${copy}`,
        ]),
        `select ${positions.join(', ')}`,
      ]);
      await beginTimeline(warehouse);
    },
    close: () => admin.end(),
  };
}

interface Table {
  readonly name: string;
  readonly copy: string;
  readonly columns: string;
}

/** The tables with rows of connections. */
async function readTables(admin: pg.Client): Promise<Table[]> {
  const { rows } = await admin.query<Table>(`
    select c.oid::regclass::text as name, format('standby.%I', n.nspname || '_' || c.relname) as copy,
      string_agg(quote_ident(a.attname), ', ' order by a.attnum) filter (where a.attgenerated = '') as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where n.nspname in ('sync', 'finance', 'history') and c.relkind in ('r', 'p') and not c.relispartition
    group by c.oid, n.nspname, c.relname
    having bool_or(a.attname = 'connection_id')`);
  return rows;
}

async function readNames(admin: pg.Client, query: string): Promise<string[]> {
  const { rows } = await admin.query<{ name: string }>(query);
  return rows.map(({ name }) => name);
}

async function inOneTransaction(admin: pg.Client, statements: readonly string[]): Promise<void> {
  await admin.query(['begin isolation level repeatable read', ...statements, 'commit'].join(';\n'));
}
