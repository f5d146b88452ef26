import { resources, streams } from '../../resources/index.ts';
import { columnKinds, type ChildTable, type Column, type Resource } from '../../resources/resource.ts';

/**
 * The text of a migration that creates what a resource of the list needs: its tables with their triggers, and its columns of
 * `finance.connections`. The text is written once and then kept as it is, so that a later change of the descriptor does not change what a release
 * has run. Rights of readers follow with every `daybook migrate`.
 */
export function resourceMigration(resource: Resource): string {
  return [
    "import { sql, type Kysely } from 'kysely';",
    '',
    `/** ${resource.comment}. */`,
    'export async function up(db: Kysely<unknown>): Promise<void> {',
    '  await sql.raw(tables).execute(db);',
    '  await sql.raw(freshness).execute(db);',
    '}',
    '',
    `const tables = \`${indented(resourceTables(resource))}\`;`,
    '',
    `const freshness = \`${indented(freshnessView() + freshnessComments(resource))}\`;`,
    '',
  ].join('\n');
}

/** SQL that creates the tables of a resource. */
export function resourceTables({ name, comment, columns, children }: Resource): string {
  const key = ['connection_id', 'id'];
  const table: Table = {
    name,
    resource: name,
    comment,
    key,
    columns: [
      {
        name: 'connection_id',
        type: 'text collate "C" not null',
        comment: 'Connection the record belongs to',
      },
      ...columns.map((column) =>
        column.name === 'id'
          ? { ...described(column), type: 'text collate "C" not null' }
          : described(column),
      ),
      { name: '_run_id', type: 'text not null', comment: 'Run that last changed the row' },
      {
        name: '_first_seen_at',
        type: 'timestamptz not null',
        comment: 'When the warehouse first held the record, by the database clock',
      },
      {
        name: '_changed_at',
        type: 'timestamptz not null',
        comment: 'When the content of the row last changed, by the database clock',
      },
      {
        name: '_content_hash',
        type: 'bytea not null',
        comment: 'SHA-256 of the record as the API sent it, without last_synced_at',
      },
    ],
    // Updated rows find room on their own page, so that no index is written (HOT).
    settings: ['fillfactor = 85', ...vacuumed],
  };
  return [
    createTable(table),
    `create index ${name}_connection_id__changed_at_idx on finance.${name} (connection_id, _changed_at)
  where _changed_at is not null;\n`,
    ...children.map((child) => `\n${createTable(childTable(name, child))}`),
  ].join('');
}

/** SQL of the view `finance.connections`, with the freshness of every resource. */
export function freshnessView(): string {
  const lists = streams.map(({ stream, resource }) => `('${stream.name}', '${resource.name}')`);
  const figures = resources.flatMap(({ name }) => {
    const success = `min(r.last_success_at) filter (where r.resource = '${name}')`;
    return [`${success} as ${name}_last_success_at`, `now() - ${success} as ${name}_freshness`];
  });
  return `create or replace view finance.connections with (security_barrier = true) as
  with visible as (
    select c.connection_id, c.platform, c.org_id from sync.connections c
    where (select sync.connections_seen_by(current_user)) is null
      or c.connection_id = any ((select sync.connections_seen_by(current_user) collate "default")::text[])
  ),
  resource_success as (
    select
      c.connection_id,
      listed.resource,
      case when bool_and(${fresh} is not null or s.capability is not distinct from 'unsupported')
        then min(${fresh}) filter (where s.capability <> 'unsupported')
      end as last_success_at
    from visible c
    cross join (
      values
        ${lists.join(',\n        ')}
    ) as listed (stream, resource)
    left join sync.streams s on s.connection_id = c.connection_id and s.stream = listed.stream
    group by c.connection_id, listed.resource
  )
  select
    c.connection_id,
    c.connection_id as name,
    c.platform,
    c.org_id,
    ${figures.join(',\n    ')}
  from visible c
  join resource_success r using (connection_id)
  group by c.connection_id, c.platform, c.org_id;
`;
}

/** A list that has stalled is as fresh as its watermark. */
const fresh =
  '(case when s.stalled_at is null or s.last_success_at < s.watermark then s.last_success_at else s.watermark end)';

/** SQL of the comments on a resource's columns of `finance.connections`. */
export function freshnessComments({ name }: Resource): string {
  return `comment on column finance.connections.${name}_last_success_at is
  'When ${name} were last read completely; null before the first time; of a list that has stalled its watermark';
comment on column finance.connections.${name}_freshness is
  'Time since ${name} were last read completely; of a list that has stalled since its watermark';
`;
}

interface Table {
  readonly name: string;
  readonly resource: string;
  readonly comment: string;
  readonly key: readonly string[];
  readonly columns: readonly { name: string; type: string; comment: string }[];
  readonly settings: readonly string[];
}

const vacuumed = ['autovacuum_vacuum_scale_factor = 0.02', 'autovacuum_analyze_scale_factor = 0.02'];

function childTable(resource: string, { table, parentKey, comment, columns }: ChildTable): Table {
  return {
    name: table,
    resource,
    comment,
    key: ['connection_id', parentKey, 'position'],
    columns: [
      {
        name: 'connection_id',
        type: 'text collate "C" not null',
        comment: 'Connection the record belongs to',
      },
      { name: parentKey, type: 'text collate "C" not null', comment: `id of the row in finance.${resource}` },
      { name: 'position', type: 'integer not null', comment: 'Place in the list the API sent, from 0' },
      ...columns.map(described),
    ],
    settings: vacuumed,
  };
}

function described({ name, kind, comment }: Column): Table['columns'][number] {
  return { name, type: columnKinds[kind].postgres, comment };
}

/** The trigger counts changes, by which exports find what is new. Always: a restore that switches triggers off changes rows too. */
function createTable({ name, resource, comment, key, columns, settings }: Table): string {
  const lines = [
    ...columns.map((column) => `${column.name} ${column.type}`),
    `primary key (${key.join(', ')})`,
  ];
  return `create table finance.${name} (
  ${lines.join(',\n  ')}
) with (${settings.join(', ')});
create trigger note_change after insert or update or delete or truncate on finance.${name}
  for each statement execute function sync.note_change('${resource}');
alter table finance.${name} enable always trigger note_change;
comment on table finance.${name} is ${literal(comment)};
${columns.map((column) => `comment on column finance.${name}.${column.name} is ${literal(column.comment)};\n`).join('')}`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** As the body of a template literal of a file, whose end is a line of its own. */
function indented(statements: string): string {
  const lines = statements.trimEnd().split('\n');
  return `\n${lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')}\n`.replaceAll(
    /[\\`]|\$\{/g,
    '\\$&',
  );
}
