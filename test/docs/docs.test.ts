import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { formatTable } from '../../cli/printer.ts';
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

test('every failure that a table of the docs explains exists in the product', async () => {
  const named = [...everything.matchAll(/^\| `([A-Z][a-z]+(?:[A-Z][a-z]+)+)`/gm)].map(
    ([, name]) => name ?? '',
  );
  expect(named.length).toBeGreaterThan(5);
  const typed = (await productFolders()).flatMap((folder) => filesIn(folder, '.ts'));
  const product = [...typed, ...filesIn('scripts', '.mjs')].map(textOf).join('\n');
  expect(named.filter((name) => !product.includes(`'${name}'`))).toEqual([]);
});

test('every failure that only a person can end is explained in a table of the docs, unless a command says all of it', () => {
  const explained = new Set(
    [...everything.matchAll(/^\| ((?:`[^`]+`(?:, )?)+)/gm)].flatMap(
      ([, cell = '']) => cell.match(/\w+/g) ?? [],
    ),
  );
  const saysAll = [
    // Errors before anything runs.
    ...[
      'AnotherLetIn',
      'DirectUrlElsewhere',
      'MigrationFailed',
      'MigrationRefused',
      'PoolerUnfit',
      'SchemaOutdated',
    ],
    // Errors for people who add or remove something.
    ...['ConnectionBeingRemoved', 'ConnectionExists', 'RecordsKept', 'RemovedWithRecords', 'UnknownReader'],
    // Errors for people who erase, build or look.
    ...[
      'JavaMissing',
      'MartsMissing',
      'NoIcebergSnapshot',
      'NoSnapshot',
      'SparkBehindPooler',
      'WrittenMeanwhile',
    ],
  ];
  const stopping = ['activities', 'warehouse', 'marts', 'lake', 'iceberg']
    .flatMap((folder) => filesIn(folder, '.ts'))
    .flatMap((file) => [...textOf(file).matchAll(/readonly name = '(\w+)';\s+readonly handling = 'stop'/g)])
    .map(([, name = '']) => name);
  expect(stopping.length).toBeGreaterThan(30);
  expect(stopping.filter((name) => !explained.has(name)).sort()).toEqual(saysAll.sort());
});

test('SQL samples on marts never use the current date, because marts may have been built on another day', () => {
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

test('every link to a heading leads to one', () => {
  for (const [file, text] of texts) {
    for (const [, target = '', anchor = ''] of text.matchAll(/\]\(([^)#\s]*)#([^)]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const page = target === '' ? file : path.join(path.dirname(file), target);
      expect(anchorsOf(textOf(page)), `${file}: ${target}#${anchor}`).toContain(anchor);
    }
  }
});

test('every source file named in the docs exists', async () => {
  const folders = ['test', ...(await productFolders())].join('|');
  // Except a file that a page tells the reader to create.
  const named = new RegExp(`(?<!a new file )\`((?:${folders})/[^\`*…]+\\.(?:ts|sql))\``, 'g');
  const paths = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(named)].map(([, source = '']) => ({ file, source })),
  );
  expect(paths.length).toBeGreaterThan(300);
  expect(paths.filter(({ source }) => !existsSync(path.join(root, source)))).toEqual([]);
});

test('docs/lake.md shows snapshots as "snapshots list" prints them', () => {
  const [, shown = ''] = /```\n(snapshot +taken [^]*?)```/.exec(textOf('docs/lake.md')) ?? [];
  const head = ['snapshot', 'taken', 'rows', 'MB', 'MB added', 'parts', 'added', 'unfit', ''];
  const rows = [
    ['20261125T140000Z-1c0b2e', '2026-11-25T14:00:02Z', 920_150, 101.4, 9.8, 1_021, 97, 0, 'latest'],
    ['20261125T130000Z-3fa9c1', '2026-11-25T13:00:02Z', 920_011, 101.3, 101.3, 1_021, 1_021, 0, ''],
  ];
  expect(shown.trimEnd()).toBe(formatTable(head, rows));
});

test('the third-party notices name what is installed', () => {
  execFileSync(process.execPath, ['scripts/third-party-notices.mjs', '--check'], { cwd: root });
});

/** Paths relative to the root, like the folder. */
function filesIn(folder: string, ending: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => `${folder}/${file}`);
}

/** Anchors as GitHub makes them from headings. Code blocks have none. */
function anchorsOf(markdown: string): string[] {
  const headings = markdown.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/\]\([^)]*\)/g, '')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function textOf(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}
