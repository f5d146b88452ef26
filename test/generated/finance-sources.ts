import { existsSync } from 'node:fs';
import { resources, streams } from '../../resources/index.ts';
import { columnKinds, type Column } from '../../resources/resource.ts';

/** The text of `dbt/models/staging/_sources.yml`: the tables of `finance` that staging models read, according to the descriptors. */
export function financeSources(): string {
  return [
    '# Made by "npm run generate" from resources/. Edit those.',
    'sources:',
    '  - name: finance',
    '    description: >',
    '      What Daybook copied. On Postgres these tables are filled anew at the start of every build, in one transaction, from where',
    '      captured_from says; on the lake they are the Parquet files of one snapshot.',
    `    schema: "{{ var('daybook_capture_schema', target.schema ~ '_captured') }}"`,
    '    config:',
    '      meta:',
    `        external_location: 'read_parquet(''{{ var(''daybook_snapshot'', '''') | replace("''", "''''") }}/{name}/*.parquet'', hive_partitioning = false)'`,
    '    tables:',
    ...tables.flatMap(sourceTable),
    '',
  ].join('\n');
}

/** The text of `dbt/macros/capture/unfit_columns.sql`: the columns that a snapshot or a mart may have to round. */
export function unfitColumns(): string {
  return [
    '{#- Made by "npm run generate" from resources/. Of each source table its key, what else names a row, and its decimals by their scale. -#}',
    '{% macro unfit_columns() -%}',
    '    {{ return({',
    [...tables, itemVersions]
      .map(({ name, key, places, columns }) => ({ name, key, places, decimals: columns.flatMap(decimalOf) }))
      .filter(({ decimals }) => decimals.length > 0)
      .map(({ name, key, places, decimals }) =>
        [
          `        '${name}': {`,
          `            'key': '${key}',`,
          `            'places': [${places.map((place) => `'${place}'`).join(', ')}],`,
          `            'scales': {${decimals.join(', ')}}`,
          '        }',
        ].join('\n'),
      )
      .join(',\n'),
    '    }) }}',
    '{%- endmacro %}',
    '',
  ].join('\n');
}

/** The text of `dbt/macros/capture/copied_streams.sql`: the lists that are read for every connection. */
export function copiedStreams(): string {
  return [
    '{#- Made by "npm run generate" from resources/. The lists of records that are read of every connection, and the resource of each. -#}',
    '{% macro copied_streams() -%}',
    '    {{ return({',
    streams.map(({ stream, resource }) => `        '${stream.name}': '${resource.name}'`).join(',\n'),
    '    }) }}',
    '{%- endmacro %}',
    '',
  ].join('\n');
}

interface SourceTable {
  readonly name: string;
  readonly comment: string;
  readonly capturedFrom: string;
  readonly key: string;
  readonly places: readonly string[];
  readonly columns: readonly Described[];
}

type Described = Pick<Column, 'name' | 'comment'> & Partial<Pick<Column, 'kind'>>;

const connection: Described = { name: 'connection_id', comment: 'Connection the record belongs to' };
const position: Described = { name: 'position', comment: 'Place in the list the API sent, from 0' };

/** Raw records are long, and staging needs only one field of them. */
const vendorName: Described = {
  name: 'platform_vendor_name',
  comment: "Name of the vendor in the platform's own record, where the connection asks for it",
};

const tables: readonly SourceTable[] = resources
  .flatMap((resource): SourceTable[] => [
    {
      name: resource.name,
      comment: resource.comment,
      capturedFrom: `finance.${resource.name}`,
      key: 'id',
      places: [],
      columns: [connection, ...resource.columns.flatMap(readable)],
    },
    ...resource.children.map((child) => ({
      name: child.table,
      comment: child.comment,
      capturedFrom: `finance.${child.table}`,
      key: child.parentKey,
      places: ['position'],
      columns: [
        connection,
        { name: child.parentKey, comment: `id of the row in finance.${resource.name}` },
        position,
        ...child.columns.flatMap(readable),
      ],
    })),
  ])
  .filter(({ name }) => isStaged(name));

/** Every version of a subscription's items: a view in `history` with the columns of the items. */
const itemVersions = {
  name: 'subscription_item_versions',
  key: 'subscription_id',
  places: ['position', 'recorded_at'],
  columns: resources.flatMap(({ children }) =>
    children.filter(({ table }) => table === 'subscription_items').flatMap(({ columns }) => columns),
  ),
};

function isStaged(table: string): boolean {
  return existsSync(new URL(`../../dbt/models/staging/stg_finance__${table}.sql`, import.meta.url));
}

function readable(column: Column, _place: number, all: readonly Column[]): Described[] {
  if (column.kind === 'object') return [];
  const isVendor = column.name === 'vendor_id' && all.some(({ name }) => name === 'platform_data');
  return isVendor ? [column, vendorName] : [column];
}

function sourceTable({ name, comment, capturedFrom, columns }: SourceTable): string[] {
  return [
    `      - name: ${name}`,
    `        identifier: captured_${name}`,
    `        description: ${text(comment)}`,
    '        config:',
    '          meta:',
    `            captured_from: ${capturedFrom}`,
    '        columns:',
    ...columns.flatMap((column) => [
      `          - name: ${column.name}`,
      `            description: ${text(column.comment)}`,
    ]),
  ];
}

/** Quotes text that YAML would parse differently. */
function text(words: string): string {
  return /: |^['"]|#/.test(words) ? `'${words.replaceAll("'", "''")}'` : words;
}

function decimalOf({ name, kind }: Described): string[] {
  const [, scale] = /^DECIMAL\(38,(\d+)\)$/.exec(kind === undefined ? '' : columnKinds[kind].parquet) ?? [];
  return scale === undefined ? [] : [`'${name}': ${scale}`];
}
