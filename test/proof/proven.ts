import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { proofs } from './proofs.ts';

/** A result as `docs/proof.md` shows it. */
export interface Proven {
  readonly name: string;
  readonly title: string;
  readonly seen: string;
  readonly holds: boolean;
  readonly took: string;
}

interface Known extends Proven {
  /** The date of the result. */
  readonly on: string;
  /** Whether the result is of the product as committed now. */
  readonly isOfTheseSources: boolean;
}

const root = new URL('../../', import.meta.url);
const page = new URL('docs/proof.md', root);
const block = /<!-- proofs -->\n[^]*<!-- \/proofs -->/;
const line = /^\| (.*) \| (yes|\*\*no\*\*) \| (.*) \| (.*) \| (.*) `([0-9a-f]+)` <!-- (\S+) --> \|$/;

export async function readProven(): Promise<Map<string, Known>> {
  const rows = rowsIn(await readFile(page, 'utf8'));
  const folders = await foldersOfProduct();
  return new Map(
    [...rows].map(([name, { cells }]) => {
      const [, title = '', holds, seen = '', took = '', on = '', of] = cells;
      return [
        name,
        {
          name,
          title,
          seen,
          holds: holds === 'yes',
          took,
          on,
          isOfTheseSources: of === hashSources(folders, name),
        },
      ];
    }),
  );
}

/** The rows of the table on the page, by the name of the proof. */
function rowsIn(text: string): Map<string, { row: string; cells: readonly string[] }> {
  const [found = ''] = block.exec(text) ?? [];
  return new Map(
    found.split('\n').flatMap((row) => {
      const cells = line.exec(row);
      return cells === null ? [] : [[cells.at(-1) ?? '', { row, cells }] as const];
    }),
  );
}

/** Adds or replaces a result; `lines` go where the page has `<!-- NAME -->`. */
export async function writeProven(proven: Proven, lines: readonly string[] = []): Promise<void> {
  const text = await readFile(page, 'utf8');
  const rows = new Map([...rowsIn(text)].map(([known, { row }]) => [known, row]));
  const { name, title, seen, holds, took } = proven;
  const today = new Date().toISOString().slice(0, 10);
  const sources = hashSources(await foldersOfProduct(), name);
  rows.set(
    name,
    `| ${title} | ${holds ? 'yes' : '**no**'} | ${seen.replaceAll('|', '\\|')} | ${took} | ${today} \`${sources}\` <!-- ${name} --> |`,
  );
  const body = proofs.flatMap((proof) => rows.get(proof.name) ?? []).join('\n');
  const table = new RegExp(`<!-- ${name} -->\\n[^]*<!-- /${name} -->`);
  await writeFile(
    page,
    text
      .replace(table, () => [`<!-- ${name} -->`, '', ...lines, '', `<!-- /${name} -->`].join('\n'))
      .replace(
        block,
        () =>
          `<!-- proofs -->\n\n| what | holds | seen | took | when, and of which sources |\n|---|---|---|---|---|\n${body}\n\n<!-- /proofs -->`,
      ),
  );
}

async function foldersOfProduct(): Promise<readonly string[]> {
  const { include } = JSON.parse(await readFile(new URL('tsconfig.build.json', root), 'utf8')) as {
    include: readonly string[];
  };
  return [...include, 'dbt', 'package-lock.json'];
}

/** A hash of the committed sources that a proof runs. Changes of pages or tests do not affect it. */
function hashSources(folders: readonly string[], name: string): string {
  const without = proofs.find((proof) => proof.name === name)?.without ?? [];
  const played = folders.filter((folder) => !without.includes(folder));
  const trees = execFileSync('git', ['ls-tree', 'HEAD', ...played], { cwd: root, encoding: 'utf8' });
  return execFileSync('git', ['hash-object', '--stdin'], { encoding: 'utf8', input: trees }).slice(0, 10);
}
