import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createProgram } from '../../cli/program.ts';
import { variables } from '../../config/variables.ts';
import { leavesOf } from '../generated/reference.ts';
import { productFolders } from '../support/product-folders.ts';

const root = path.resolve(import.meta.dirname, '../..');
const files = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'sandbox/README.md',
  'bench/README.md',
  ...filesIn('docs', '.md'),
];
const texts = new Map(files.map((file) => [file, textOf(file)]));
const everything = [...texts.values()].join('\n');

test('every variable named in the docs exists', () => {
  const named = new Set(everything.match(/DAYBOOK_[A-Z0-9_]*[A-Z0-9]/g) ?? []);
  expect([...named].filter((name) => !(name in variables))).toEqual([]);
});

test('every "daybook …" in the docs is a command', () => {
  const known = new Set(createProgram(() => undefined).commands.map((command) => command.name()));
  const named = [...everything.matchAll(/daybook ([a-z]+)\b/g)].map(([, name]) => name ?? '');
  expect(named.filter((name) => !known.has(name) && name !== 'authors')).toEqual([]);
});

test('every failure that a table of the docs explains has its name in the product', async () => {
  const named = [...everything.matchAll(/^\| `([A-Z][a-z]+(?:[A-Z][a-z]+)+)`/gm)].map(
    ([, name]) => name ?? '',
  );
  expect(named.length).toBeGreaterThan(5);
  const product = (await productFolders())
    .flatMap((folder) => filesIn(folder, '.ts'))
    .map(textOf)
    .join('\n');
  expect(named.filter((name) => !product.includes(`'${name}'`))).toEqual([]);
});

test('samples ask the marts which day they speak of, since they may have been built on another one', () => {
  const samples = everything.match(/```sql\n[\s\S]*?```/g) ?? [];
  const ofMarts = samples.flatMap((block) => block.split(';')).filter((sql) => sql.includes('marts.'));
  expect(ofMarts.length).toBeGreaterThan(3);
  expect(ofMarts.filter((sql) => /current_date|now\(\)/.test(sql))).toEqual([]);
});

test('every command has an example in its help', () => {
  const program = createProgram(() => undefined);
  for (const command of leavesOf(program)) {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    expect(help, command.name()).toContain('Example:');
  }
});

test('every link to a file leads somewhere', () => {
  for (const [file, text] of texts) {
    for (const [, target = ''] of text.matchAll(/\]\(([^)#]+)[^)]*\)/g)) {
      if (/^https?:/.test(target)) continue;
      expect(existsSync(path.resolve(root, path.dirname(file), target)), `${file}: ${target}`).toBe(true);
    }
  }
});

test('the third-party notices name what is installed', () => {
  execFileSync(process.execPath, ['scripts/third-party-notices.mjs', '--check'], { cwd: root });
});

/** Relative to the root, as their folder is. */
function filesIn(folder: string, ending: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => `${folder}/${file}`);
}

function textOf(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}
