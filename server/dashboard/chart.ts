import * as z from 'zod';
import type { QueryResult } from '../../warehouse/query/query-texts.ts';
import { visible } from '../frame/visible.ts';
import { leftOutWords, type LeftOut } from './left-out.ts';
import { namelessWords, type Nameless, type NamelessKind } from './nameless.ts';
import { unreadWords, type Read } from './unread.ts';
import type { View } from './view.ts';

/** One question, the statement that answers it, and how the answer is shown. */
export interface ChartSource<Row extends ScopedRow> {
  readonly id: string;
  readonly title: string;
  /** One sentence: what is counted, and how. */
  readonly about: string;
  readonly shownAs: 'tiles' | 'drawing' | 'table';
  /** The marts that the statement reads, the main one first. */
  readonly marts: readonly string[];
  /** Shown, and run as it is. All sums are computed here. */
  readonly sql: string;
  readonly row: z.ZodType<Row>;
  /** The groups of documents reported beside the figures; the statement reads them. */
  readonly leftOut?: readonly LeftOut[];
  /** For charts of money: the kinds of documents that are in no figure of any currency if they have no currency. */
  readonly nameless?: readonly NamelessKind[];
  /** For charts of spend: the months that must be read to their end, and the note about those that are not. */
  readonly unread?: {
    readonly months: (asOf: string) => readonly string[];
    readonly consequence: string;
  };
  /** Renders the rows of one choice. */
  readonly view: (rows: readonly Row[], choice: Choice) => View;
  /** The text for a choice that has no rows, if nothing is left out. */
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
  /** Notes about what the figures leave out, one sentence each, without the period. */
  readonly leftOut: readonly string[];
  /** The day that the marts describe, as YYYY-MM-DD. */
  readonly asOf: string;
  /** The UTC day on which the marts were built, but never later than `asOf`. */
  readonly utcDay: string;
  /** The chosen connections that offer spend. */
  readonly reads: readonly Read[];
}

/** The facts about a build that are shown beside the rows of a chart. */
export interface BuildFacts {
  readonly asOf: string;
  readonly utcDay: string;
  readonly nameless: Nameless;
  /** Every connection that offers spend. */
  readonly reads: readonly Read[];
}

export interface ChosenView extends View {
  readonly connection: string;
  /** Undefined: the view holds for every currency. */
  readonly currency: string | undefined;
}

export type Chart = Omit<ChartSource<ScopedRow>, 'row' | 'view'> & {
  readonly views: (result: QueryResult, facts: BuildFacts) => ChosenView[];
};

/** Defines a chart. Its rows are validated as they come from Postgres, and shown by connection and currency with a note of what they leave out. */
export function defineChart<Row extends ScopedRow>({ row, view, ...rest }: ChartSource<Row>): Chart {
  return {
    ...rest,
    views: (result, { asOf, utcDay, nameless, reads: all }) =>
      [...byChoice(asObjects(result).map(withVisibleTexts))].map(([, { scope, objects }]) => {
        const currency = scope.currency ?? '';
        // If everything is left out, there are no figures.
        const rows = objects
          .filter(({ has_figures: has }) => has !== false)
          .map((object) => withTexts(row.parse(object), withoutMiddle));
        const leftOut = [
          ...leftOutWords(rest.leftOut ?? [], objects[0], currency),
          ...(currency === '' ? [] : namelessWords(nameless, rest.nameless ?? [], scope.connection)),
          ...unreadIn(rest, { asOf, connection: scope.connection, reads: all }),
        ];
        const reads = readsFor(all, scope.connection);
        return { ...scope, ...capitalized(view(rows, { ...scope, currency, asOf, utcDay, leftOut, reads })) };
      }),
  };
}

/** Returns the chart's note about months that were not read to their end. */
export function unreadIn(
  { unread }: Pick<Chart, 'unread'>,
  { asOf, connection, reads }: Pick<BuildFacts, 'asOf' | 'reads'> & { connection: string },
): string[] {
  if (unread === undefined) return [];
  const { months, consequence } = unread;
  return unreadWords(readsFor(reads, connection), { months: months(asOf), connection, consequence });
}

function readsFor(reads: readonly Read[], connection: string): readonly Read[] {
  return connection === '' ? reads : reads.filter(({ connection_id: name }) => name === connection);
}

function capitalized({ sentence, ...view }: View): View {
  return { ...view, sentence: `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}` };
}

interface ChoiceRows {
  scope: Pick<ChosenView, 'connection' | 'currency'>;
  objects: Record<string, unknown>[];
}

function byChoice(objects: readonly Record<string, unknown>[]): Map<string, ChoiceRows> {
  const choices = new Map<string, ChoiceRows>();
  for (const object of objects) {
    const { connection_id, currency_code } = scoped.parse(object);
    const scope = {
      connection: connection_id ?? '',
      currency: currency_code === undefined ? undefined : (currency_code ?? ''),
    };
    const key = JSON.stringify(scope);
    const choice = choices.get(key) ?? { scope, objects: [] };
    choice.objects.push(object);
    choices.set(key, choice);
  }
  return choices;
}

/** Escapes names of vendors and currencies, so that they are shown, drawn and chosen by the same characters. */
function withVisibleTexts(object: Record<string, unknown>): Record<string, unknown> {
  return withTexts(object, visible);
}

/**
 * Shortens a long text to its beginning and its end; in a label, the ID that makes it unique is at the end. IDs of 2,000 control characters
 * made a page of 100 MB. The currencies that can be chosen are shorter.
 */
function withoutMiddle(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, longestShown - 60)} … ${text.slice(-57)}`;
}

const longestShown = 300;

function withTexts<Row extends object>(row: Row, change: (text: string) => string): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'string' ? change(value) : value,
    ]),
  ) as Row;
}

const scoped = z.object({
  connection_id: z.string().nullable(),
  currency_code: z.string().nullable().optional(),
});

export function asObjects({ columns, rows }: QueryResult): Record<string, unknown>[] {
  return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]])));
}
