import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { proofs } from './proofs.ts';

/** A result as `docs/proof.md` tells it. */
export interface Proven {
  readonly name: string;
  readonly title: string;
  readonly seen: string;
  readonly holds: boolean;
  readonly took: string;
}

interface Known extends Proven {
  /** A day. */
  readonly on: string;
  /** Of the sources as they are now: those of the product, and of what is run against it. */
  readonly isOfTheseSources: boolean;
}

const page = new URL('../../docs/proof.md', import.meta.url);
const block = /<!-- proofs -->\n[^]*<!-- \/proofs -->/;
const line = /^\| (.*) \| (yes|\*\*no\*\*) \| (.*) \| (.*) \| (.*) `([0-9a-f]+)` <!-- (\S+) --> \|$/;

export async function readProven(): Promise<Map<string, Known>> {
  const [found = ''] = block.exec(await readFile(page, 'utf8')) ?? [];
  const sources = sourcesNow();
  return new Map(
    found.split('\n').flatMap((text) => {
      const [, title = '', holds, seen = '', took = '', on = '', of, name = ''] = line.exec(text) ?? [];
      const known = { name, title, seen, holds: holds === 'yes', took, on, isOfTheseSources: of === sources };
      return of === undefined ? [] : [[name, known] as const];
    }),
  );
}

/** Adds a result, or writes it anew; `lines` go where the page has `<!-- NAME -->`. */
export async function writeProven(proven: Proven, lines: readonly string[] = []): Promise<void> {
  const text = await readFile(page, 'utf8');
  const [found = ''] = block.exec(text) ?? [];
  const rows = new Map(
    found.split('\n').flatMap((row) => {
      const [, , , , , , , known] = line.exec(row) ?? [];
      return known === undefined ? [] : [[known, row] as const];
    }),
  );
  const { name, title, seen, holds, took } = proven;
  const today = new Date().toISOString().slice(0, 10);
  rows.set(
    name,
    `| ${title} | ${holds ? 'yes' : '**no**'} | ${seen.replaceAll('|', '\\|')} | ${took} | ${today} \`${sourcesNow()}\` <!-- ${name} --> |`,
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

/** Names the content of what is proved, and of nothing else: a change of a page or of another test is none of it. */
function sourcesNow(): string {
  const trees = execFileSync('git', ['ls-tree', 'HEAD', ...sources], { encoding: 'utf8' });
  return execFileSync('git', ['hash-object', '--stdin'], { encoding: 'utf8', input: trees }).slice(0, 10);
}

const sources = [
  ...['activities', 'config', 'dbt', 'lake', 'marts', 'operations', 'resources', 'source', 'temporal'],
  ...['warehouse', 'worker', 'workflows'],
];
