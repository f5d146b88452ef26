import type { z } from 'zod';
import type { QueryResult } from '../../warehouse/query-as-reader.ts';
import type { View } from './view.ts';

/** One question, the statement that answers it, and how the answer is shown. */
export interface ChartSource<Row extends ScopedRow> {
  readonly id: string;
  readonly title: string;
  /** What is counted and how, in a sentence. */
  readonly about: string;
  readonly shownAs: 'tiles' | 'drawing' | 'table';
  /** Those the statement reads, the main one first. */
  readonly marts: readonly string[];
  /** Shown and run as it is. Whatever is added up, is added up here. */
  readonly sql: string;
  readonly row: z.ZodType<Row>;
  /** Shows the rows of one choice. */
  readonly view: (rows: readonly Row[], choice: Choice) => View;
  /** Said where a choice has no rows. */
  readonly empty: string;
}

export interface ScopedRow {
  /** Null: all connections together. */
  readonly connection_id: string | null;
  /** Absent: the chart is not about money. Null: documents without a currency. */
  readonly currency_code?: string | null;
}

export interface Choice {
  /** Empty: all connections. */
  readonly connection: string;
  /** Empty: documents without a currency. */
  readonly currency: string;
  /** The day that the marts speak of, as YYYY-MM-DD. */
  readonly asOf: string;
}

export interface ChosenView extends View {
  readonly connection: string;
  /** Undefined: of every currency. */
  readonly currency: string | undefined;
}

export type Chart = Omit<ChartSource<ScopedRow>, 'row' | 'view'> & {
  readonly views: (result: QueryResult, asOf: string) => ChosenView[];
};

/** A chart whose rows are checked as they come from Postgres, and shown by connection and currency. */
export function defineChart<Row extends ScopedRow>({ row, view, ...rest }: ChartSource<Row>): Chart {
  return {
    ...rest,
    views: (result, asOf) =>
      [...byChoice(objectsOf(result).map((object) => row.parse(object)))].map(([, { scope, rows }]) => ({
        ...scope,
        ...capitalised(view(rows, { ...scope, currency: scope.currency ?? '', asOf })),
      })),
  };
}

function capitalised({ sentence, ...view }: View): View {
  return { ...view, sentence: `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}` };
}

interface ChoiceRows<Row> {
  scope: Pick<ChosenView, 'connection' | 'currency'>;
  rows: Row[];
}

function byChoice<Row extends ScopedRow>(rows: readonly Row[]): Map<string, ChoiceRows<Row>> {
  const choices = new Map<string, ChoiceRows<Row>>();
  for (const row of rows) {
    const scope = {
      connection: row.connection_id ?? '',
      currency: row.currency_code === undefined ? undefined : (row.currency_code ?? ''),
    };
    const key = JSON.stringify(scope);
    const choice = choices.get(key) ?? { scope, rows: [] };
    choice.rows.push(row);
    choices.set(key, choice);
  }
  return choices;
}

export function objectsOf({ columns, rows }: QueryResult): Record<string, unknown>[] {
  return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]])));
}
