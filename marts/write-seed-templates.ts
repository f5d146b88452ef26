import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { guardedColumn } from './formula-guard.ts';

/**
 * Writes `<seed>.template.csv` beside the user's seeds: every vendor and account, by descending spend, with their current names. Filled in and
 * saved as `<seed>.csv`, it is the seed. The user's own files are never touched. `copyTo` writes the rows of a query as CSV with a header.
 */
export async function writeSeedTemplates(
  seedsFolder: string,
  copyTo: (query: string, file: string) => Promise<void>,
): Promise<void> {
  for (const { seed, columns, model } of templates) {
    const draft = join(seedsFolder, `.${seed}.template.${process.pid}`);
    await copyTo(
      `select ${columns.map(guardedColumn).join(', ')} from intermediate.${model} order by place`,
      draft,
    );
    await rename(draft, join(seedsFolder, `${seed}.template.csv`));
  }
}

const templates = [
  {
    seed: 'vendor_names',
    columns: ['connection_id', 'vendor_id', 'vendor_name'],
    model: 'int_vendors__ranked',
  },
  {
    seed: 'account_map',
    columns: ['connection_id', 'account_id', 'account_name', 'account_type'],
    model: 'int_accounts__ranked',
  },
] as const;
