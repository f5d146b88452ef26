import { Command, Option } from 'commander';
import { beginsLikeFormula } from '../../marts/formula-guard.ts';
import { queryAsReader } from '../../warehouse/query/query-as-reader.ts';
import type { QueryResult } from '../../warehouse/query/query-texts.ts';
import { codeOf } from '../../errors/code-of.ts';
import { UsageError } from '../errors.ts';
import { print, printAside, printFile, printJson, printTable } from '../printer.ts';
import { withWarehouse } from '../with-warehouse.ts';

export function sqlCommand(): Command {
  return new Command('sql')
    .description("Run one read-only query on the warehouse as the readers' role.")
    .argument('<query>', 'one SQL statement')
    .option('--json', 'print JSON: one object per row; decimals are strings with every digit')
    .addOption(
      new Option(
        '--csv',
        "print CSV; text that a spreadsheet would run as a formula is prefixed with '",
      ).conflicts('json'),
    )
    .addHelpText(
      'after',
      '\nExample:\n  $ npx daybook sql "select resource, count(*) from finance.deleted_records group by 1"',
    )
    .action(async (query: string, { json, csv }: { json?: true; csv?: true }) => {
      const result = await withWarehouse((warehouse) =>
        queryAsReader(warehouse, query, {
          onOwner: () => {
            printAside(asOwner);
          },
        }).catch(explainRefusal),
      );
      if (json === true) printJson(asObjects(result));
      else if (csv === true) printFile(formatCsv(result));
      else show(result);
    });
}

/** Adds to a permission error what a reader is allowed to do. */
function explainRefusal(error: unknown): never {
  const refusals: Record<string, string> = {
    '25006': 'this command only reads',
    '42501':
      'readers see the schemas finance, marts and iceberg, and the functions history.as_of and history.changed_since',
  };
  const remedy = refusals[String(codeOf(error) ?? '')];
  throw remedy !== undefined && error instanceof Error
    ? new Error(`${error.message}: ${remedy}.`, { cause: error })
    : error;
}

const asOwner =
  'There is no role daybook_reader for this user, so the query runs as the owner, read-only. "daybook doctor" says what to ask an administrator for.';

function asObjects({ columns, rows }: QueryResult): Record<string, unknown>[] {
  const twice = columns.find((column, index) => columns.indexOf(column) < index);
  if (twice !== undefined)
    throw new UsageError(
      `Two columns are called "${twice}", and a JSON object has one: rename one with "as", like ${twice} as ${twice}_2.`,
    );
  return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]])));
}

/** Writes CSV as `psql --csv` and COPY do, made safe for spreadsheets. Null is an empty field, an empty text is `""`. */
function formatCsv({ columns, rows }: QueryResult): string {
  return [columns, ...rows].map((row) => row.map(csvField).join(',')).join('\n');
}

function csvField(value: string | number | boolean | null): string {
  if (value === null) return '';
  const text = typeof value === 'string' ? asText(value) : String(value);
  // COPY ends its input at a line of `\.` alone.
  return text === '' || text === '\\.' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Protects text that a spreadsheet would run as a formula by a leading apostrophe. Numbers stay as they are. */
function asText(value: string): string {
  const isNumber = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value);
  return beginsLikeFormula(value) && !isNumber ? `'${value}` : value;
}

function show({ columns, rows }: QueryResult): void {
  // Numbers are printed as Postgres writes them: without separators, so that they can be pasted into a sheet.
  printTable(
    columns,
    rows.map((row) => row.map((value) => (typeof value === 'number' ? String(value) : value))),
  );
  print(`(${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`);
}
