import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { blocksOf } from './blocks-of.ts';
import { measureNames } from './measures.ts';

/** A statement that a page shows its readers. */
export interface Sample {
  readonly page: string;
  readonly sql: string;
}

const root = resolve(import.meta.dirname, '../..');

/** Every statement in the README and the docs, for Postgres and for DuckDB. */
export function statementsOfDocs(): Sample[] {
  const files = [
    'README.md',
    ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => `docs/${file}`),
  ];
  return files.flatMap((page) => {
    const blocks = blocksOf(join(root, page)).filter(
      ({ language, note }) => language === 'sql' && note === '',
    );
    const statements = blocks.flatMap(({ text }) => text.replaceAll(/^--.*$/gm, '').split(';'));
    const commands = queriesIn(readFileSync(join(root, page), 'utf8'));
    return [...statements, ...commands]
      .map((sql) => ({ page, sql: sql.trim() }))
      .filter(({ sql }) => sql !== '');
  });
}

/** The arguments of `daybook sql` in a text. */
export function queriesIn(text: string): string[] {
  return [...text.matchAll(/daybook sql "([^"…]*)"/g)].map(([, sql = '']) => sql);
}

export function isOfDuckDb({ page }: Sample): boolean {
  return page.endsWith('duckdb.md');
}

/** Whether a sample has a column with that name. */
export function says(sql: string, measure: string): boolean {
  return new RegExp(`\\bas ${measure}\\b`).test(sql);
}

export function measuresIn({ sql }: Sample): string[] {
  return measureNames.filter((measure) => says(sql, measure));
}

/** The views over a lake that the samples in duckdb.md use. */
export function lakeSql(): string {
  const page = readFileSync(join(root, 'docs/connect/duckdb.md'), 'utf8');
  return /^```sql lake\.sql\n([^]*?)^```$/m.exec(page)?.[1] ?? '';
}
