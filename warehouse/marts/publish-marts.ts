import { DatabaseError, type ClientBase } from 'pg';
import { codeOf } from '../../errors/code-of.ts';
import { lockAtOnce, takingLocks, type LockWait } from '../transactions/taking-locks.ts';
import type { MartsSchema } from './prepare-schemas.ts';

/** A mart lost or changed a column that a user's view shows. */
export class MartInUse extends Error {
  override readonly name = 'MartInUse';
  readonly handling = 'stop';

  constructor(mart: string, detail: string) {
    super(
      `marts.${mart} has other columns than before, and something of yours is built on it (${detail}). ` +
        'Drop that, build again, and recreate it. The marts were not replaced.',
    );
  }
}

export interface Built {
  readonly schema: MartsSchema;
}

/**
 * Makes the views in `marts` show a schema that was built and tested, all of them at once. Users' views on them survive. Throws MartInUse, LockHeld.
 * Returns the names of the marts.
 */
export async function publishMarts(
  client: ClientBase,
  built: Built,
  waiting: LockWait = {},
): Promise<string[]> {
  return takingLocks(client, { what: 'Publishing the marts', ...waiting }, () => publish(client, built));
}

async function publish(client: ClientBase, { schema }: Built): Promise<string[]> {
  const { rows } = await client.query<MartView>(martViews, [schema]);
  await lockAtOnce(
    client,
    rows.flatMap(({ view }) => (view === null ? [] : [view])),
  );
  for (const view of rows) await replaceView(client, view);
  await client.query(grantToReaders);
  await client.query(
    `insert into sync.settings (name, value) values ('marts_schema', $1)
     on conflict (name) do update set value = excluded.value`,
    [schema],
  );
  return rows.map(({ mart }) => mart);
}

interface MartView {
  readonly mart: string;
  /** Null if there is none yet. */
  readonly view: string | null;
  readonly create_view: string;
  readonly comments: string;
}

const martViews = `
  select
    t.relname as mart,
    to_regclass(format('marts.%I', t.relname))::text as view,
    format(
      'view marts.%I as select %s from %I.%I', t.relname,
      string_agg(quote_ident(c.attname), ', ' order by c.attnum), n.nspname, t.relname
    ) as create_view,
    format('comment on view marts.%I is %L;', t.relname, obj_description(t.oid, 'pg_class'))
      || string_agg(
        format('comment on column marts.%I.%I is %L;', t.relname, c.attname, col_description(t.oid, c.attnum)), ''
      ) as comments
  from pg_class t
  join pg_namespace n on n.oid = t.relnamespace
  join pg_attribute c on c.attrelid = t.oid and c.attnum > 0 and not c.attisdropped
  where n.nspname = $1 and t.relkind = 'r'
  group by t.oid, t.relname, n.nspname
  order by t.relname
`;

async function replaceView(client: ClientBase, { mart, create_view, comments }: MartView): Promise<void> {
  await client.query('savepoint view');
  try {
    await client.query(`create or replace ${create_view}`);
  } catch (error) {
    if (codeOf(error) !== invalidTableDefinition) throw error;
    // Columns were removed or changed their type, which "or replace" cannot do.
    await client.query('rollback to savepoint view');
    await recreateView(client, mart, create_view);
  }
  await client.query(comments);
}

async function recreateView(client: ClientBase, mart: string, createView: string): Promise<void> {
  try {
    await client.query(`drop view marts."${mart}"`);
  } catch (error) {
    if (error instanceof DatabaseError && codeOf(error) === dependentObjects)
      throw new MartInUse(mart, error.detail ?? 'something depends on it');
    throw error;
  }
  await client.query(`create ${createView}`);
}

const grantToReaders = `
  do $$ begin
    if exists (select from pg_roles where rolname = 'daybook_reader') then
      grant usage on schema marts to daybook_reader;
      grant select on all tables in schema marts to daybook_reader;
    end if;
  end $$
`;

const invalidTableDefinition = '42P16';
const dependentObjects = '2BP01';
