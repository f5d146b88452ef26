/**
 * A resource is data. Validation, table columns, landing SQL and Parquet types all follow from these descriptors; few places name a
 * resource (docs/extending.md lists them).
 */
export interface Resource {
  /** The name in the API's path, in `finance`, on the command line. */
  readonly name: string;
  /** The key of the record in a fetch response. */
  readonly singular: string;
  /** The path of the list endpoint; a record is fetched at `<listPath>/<id>` if `fetchable`. */
  readonly listPath: string;
  readonly fetchable: boolean;
  /** Whether its list always names the company; that of subscriptions may not (API document 4.1, 4.5). */
  readonly namesCompany: boolean;
  /** The name in the events list (API document 4.6); subscriptions have none. */
  readonly eventName: string | null;
  /** The `type` of its webhooks (API document 6.2); subscriptions have none. */
  readonly webhookName: string | null;
  /** The field by which two versions of a record are compared, by the service's clock if the API has it. */
  readonly version: 'last_synced_at' | 'updated_at';
  /** Requests outside of any list, such as a fetch, are counted with the first. */
  readonly streams: readonly [Stream, ...Stream[]];
  readonly comment: string;
  readonly columns: readonly Column[];
  readonly children: readonly ChildTable[];
}

/** One paged list. Most resources have one; expenses are read as expenses and as refunds. */
export interface Stream {
  readonly name: string;
  /** Sent with every page. */
  readonly query: Readonly<Record<string, string>>;
  /** The filter for the floor of a pass, in Unix milliseconds, inclusive. */
  readonly floorParameter: 'last_synced_at_min' | 'updated_at_min';
}

/** Returns the column values that identify rows of records from a list: `['expense_type', 'refund']`. */
export function filtersOf({ columns }: Resource, { query }: Stream): [column: string, value: string][] {
  return Object.entries(query).filter(([name]) => columns.some((column) => column.name === name));
}

/** An array of the record, stored as rows of its own, keyed by the parent's id and the index in the array. */
export interface ChildTable {
  readonly table: string;
  readonly parentKey: string;
  /** The record's field that holds the array. */
  readonly from: string;
  readonly comment: string;
  readonly columns: readonly Column[];
}

export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
  /** The path of the value in the JSON: `['item', 'quantity']`. */
  readonly path: readonly [string] | readonly [string, string];
  readonly comment: string;
}

export type ColumnKind = keyof typeof columnKinds;

/**
 * The types of each kind of column: the JSON type in the API, the Postgres type in the tables, the Parquet type in snapshots. `emptyIsNull`: an
 * empty string means "none"; `nullWord`: so does the word `null`.
 */
export const columnKinds = {
  id: { json: 'string', postgres: 'text', parquet: 'VARCHAR', emptyIsNull: true, nullWord: false },
  ids: {
    json: 'string or list',
    postgres: 'text',
    parquet: 'VARCHAR',
    emptyIsNull: true,
    nullWord: false,
  },
  text: { json: 'string', postgres: 'text', parquet: 'VARCHAR', emptyIsNull: false, nullWord: false },
  enum: { json: 'string', postgres: 'text', parquet: 'VARCHAR', emptyIsNull: false, nullWord: false },
  code: { json: 'string', postgres: 'text', parquet: 'VARCHAR', emptyIsNull: true, nullWord: true },
  currency: { json: 'string', postgres: 'text', parquet: 'VARCHAR', emptyIsNull: true, nullWord: true },
  date: { json: 'date', postgres: 'date', parquet: 'DATE', emptyIsNull: true, nullWord: false },
  time: {
    json: 'time',
    postgres: 'timestamptz',
    parquet: 'TIMESTAMP WITH TIME ZONE',
    emptyIsNull: true,
    nullWord: false,
  },
  amount: {
    json: 'number',
    postgres: 'numeric',
    parquet: 'DECIMAL(38,9)',
    emptyIsNull: false,
    nullWord: false,
  },
  quantity: {
    json: 'number',
    postgres: 'numeric',
    parquet: 'DECIMAL(38,9)',
    emptyIsNull: false,
    nullWord: false,
  },
  price: {
    json: 'number',
    postgres: 'numeric',
    parquet: 'DECIMAL(38,12)',
    emptyIsNull: false,
    nullWord: false,
  },
  rate: {
    json: 'number',
    postgres: 'numeric',
    parquet: 'DECIMAL(38,12)',
    emptyIsNull: false,
    nullWord: false,
  },
  decimalText: {
    json: 'decimal string',
    postgres: 'numeric',
    parquet: 'DECIMAL(38,12)',
    emptyIsNull: true,
    nullWord: false,
  },
  integer: { json: 'integer', postgres: 'bigint', parquet: 'BIGINT', emptyIsNull: false, nullWord: false },
  object: { json: 'object', postgres: 'jsonb', parquet: 'VARCHAR', emptyIsNull: false, nullWord: false },
} as const satisfies Record<string, KindOfColumn>;

interface KindOfColumn {
  readonly json:
    'string' | 'string or list' | 'date' | 'time' | 'number' | 'decimal string' | 'integer' | 'object';
  readonly postgres: 'text' | 'date' | 'timestamptz' | 'numeric' | 'bigint' | 'jsonb';
  readonly parquet: string;
  readonly emptyIsNull: boolean;
  readonly nullWord: boolean;
}

/**
 * The pattern of a number in a string of the API, after trimming; `NaN` and hex do not match. No digit can match in two ways, so a text of
 * megabytes is scanned once.
 */
export const decimalTextPattern = String.raw`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$`;
