/**
 * A resource is data. Validation, table columns, landing SQL and Parquet types all follow from these descriptors;
 * nothing anywhere asks which resource it has in hand.
 */
export interface Resource {
  /** The name in the API's path, in `finance`, on the command line. */
  readonly name: string;
  /** Key of the record in a fetch response. */
  readonly singular: string;
  /** Path of the list endpoint; a record is fetched at `<listPath>/<id>`, where `fetchable`. */
  readonly listPath: string;
  readonly fetchable: boolean;
  /** Whether its list always says for whom the service answers; that of subscriptions may not (API document 4.1, 4.5). */
  readonly namesCompany: boolean;
  /** Name in the events list (API document 4.6); subscriptions have none. */
  readonly eventName: string | null;
  /** The `type` of its webhooks (API document 6.2); subscriptions have none. */
  readonly webhookName: string | null;
  /** The field by which two versions of a record are compared, in the service's clock where the API has it. */
  readonly version: 'last_synced_at' | 'updated_at';
  /** What belongs to no list of its own, such as a fetch, is counted with the first. */
  readonly streams: readonly [Stream, ...Stream[]];
  readonly comment: string;
  readonly columns: readonly Column[];
  readonly children: readonly ChildTable[];
}

/** One list that is paged. Most resources have one; expenses are read as expenses and as refunds. */
export interface Stream {
  readonly name: string;
  /** Sent with every page. */
  readonly query: Readonly<Record<string, string>>;
  /** The filter that takes the floor of a pass, in Unix milliseconds, inclusive. */
  readonly floorParameter: 'last_synced_at_min' | 'updated_at_min';
}

/** By which columns of a row one tells that a list shows its record, and what they have: `['expense_type', 'refund']`. */
export function filtersOf({ columns }: Resource, { query }: Stream): [column: string, value: string][] {
  return Object.entries(query).filter(([name]) => columns.some((column) => column.name === name));
}

/** An array of the record, kept as rows of its own, keyed by the parent's id and the place in the array. */
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
  /** Where the value stands in the JSON: `['item', 'quantity']`. */
  readonly path: readonly [string] | readonly [string, string];
  readonly comment: string;
}

export type ColumnKind = keyof typeof columnKinds;

/**
 * What a kind of column is on each of its ways: the JSON type the API sends, the Postgres type it lands in, the Parquet
 * type it leaves by. `emptyIsNull`: an empty string says "none"; `nullWord`: so does the word `null`.
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
 * A decimal that the API writes as a string is a number if, trimmed, it looks like this; `NaN` and hex do not. No digit can be taken in
 * two ways, so a text of megabytes is looked through once.
 */
export const decimalTextPattern = String.raw`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$`;
