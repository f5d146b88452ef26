import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RandomBook } from './arbitrary-book.ts';

/** Seeded rates, for documents without a rate of their own. */
export const fxRates: readonly Readonly<Record<string, string>>[] = [
  { from_currency: 'USD', to_currency: 'EUR', valid_from: '2020-01-01', rate: '0.9' },
  { from_currency: 'USD', to_currency: 'EUR', valid_from: '2026-01-01', rate: '0.85123456789' },
  { from_currency: 'EUR', to_currency: 'USD', valid_from: '2025-06-01', rate: '1.1' },
  { from_currency: 'JPY', to_currency: 'USD', valid_from: '2020-01-01', rate: '0.0067' },
  { from_currency: 'USD', to_currency: 'JPY', valid_from: '2020-01-01', rate: '151.335' },
  { from_currency: 'USD', to_currency: 'KWD', valid_from: '2020-01-01', rate: '0.30715' },
  { from_currency: 'USD', to_currency: 'CLF', valid_from: '2020-01-01', rate: '0.0241537' },
];

/** Writes the four seeds, which contain what the companies configured. */
export async function writeSeeds(folder: string, books: readonly RandomBook[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const write = (
    seed: string,
    columns: readonly string[],
    rows: readonly (readonly string[])[],
  ): Promise<void> => writeFile(join(folder, `${seed}.csv`), [columns, ...rows].map(formatCsvLine).join(''));
  const [rate = {}] = fxRates;
  await write('fx_rates', Object.keys(rate), fxRates.map(Object.values<string>));
  await write(
    'connection_settings',
    ['connection_id', 'base_currency', 'fx_direction'],
    books.flatMap(({ name, settings }) =>
      settings === null ? [] : [[name, settings.base_currency, settings.fx_direction]],
    ),
  );
  await write(
    'vendor_names',
    ['connection_id', 'vendor_id', 'vendor_name'],
    books.flatMap(({ name, vendorNames }) => Object.entries(vendorNames).map((one) => [name, ...one])),
  );
  await write(
    'account_map',
    ['connection_id', 'account_id', 'account_name', 'account_type'],
    books.flatMap(({ name, accountNames }) =>
      Object.entries(accountNames).map(([id, account]) => [
        ...[name, id],
        ...[account.account_name, account.account_type],
      ]),
    ),
  );
}

function formatCsvLine(fields: readonly string[]): string {
  return `${fields.map((field) => (field === '' ? '' : `"${field.replaceAll('"', '""')}"`)).join(',')}\n`;
}
