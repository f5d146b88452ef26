import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

/** Follows docs/extending.md to the letter, in a copy of the checkout. */
const root = resolve(import.meta.dirname, '../..');
const copy = mkdtempSync(join(tmpdir(), 'daybook-extended-'));
afterAll(() => {
  rmSync(copy, { recursive: true, force: true });
});
const page = readFileSync(join(root, 'docs/extending.md'), 'utf8');

test('the edits of docs/extending.md add a column, and the tests that the page names pass', async () => {
  copyCheckout();
  const edits = editsOf(page);
  expect(edits.length).toBeGreaterThan(8);
  for (const edit of edits) make(edit);
  await run('npx', ['--no', 'tsx', 'test/generated/write-generated.ts']);
  await run('npx', ['--no', 'tsc', '--noEmit']);
  const [, named = ''] = /`npx vitest run ([^`]+)`/.exec(page) ?? [];
  const tests = named.split(' ');
  expect(tests.length).toBeGreaterThan(2);
  await run('npx', ['--no', 'vitest', 'run', ...tests]);
});

interface Edit {
  readonly file: string;
  /** Undefined: the file is new. */
  readonly after: string | undefined;
  readonly isLast: boolean;
  readonly text: string;
}

/** The edits of the page's blocks. The text before a block says where it goes. */
function editsOf(markdown: string): Edit[] {
  const said =
    /[Ii]n (?:a new file )?`([^`]+)`(?:, after `([^`]+)`( of the last list)?)?:\n\n```\w+\n([^]*?)^```$/gm;
  return [...markdown.matchAll(said)].map(([, file = '', after, last, text = '']) => ({
    file,
    after,
    isLast: last !== undefined,
    text,
  }));
}

function make({ file, after, isLast, text }: Edit): void {
  const path = join(copy, file);
  if (after === undefined) {
    writeFileSync(path, text);
    return;
  }
  const lines = readFileSync(path, 'utf8').split('\n');
  const places = lines.flatMap((line, place) => (line.trim() === after ? [place] : []));
  expect(places.length, `${file} has "${after}"`).toBeGreaterThan(0);
  if (!isLast) expect(places.length, `${file} has "${after}" once`).toBe(1);
  lines.splice((places.at(-1) ?? 0) + 1, 0, text.trimEnd());
  writeFileSync(path, lines.join('\n'));
}

function copyCheckout(): void {
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', listed, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 24 });
  for (const file of files.split('\0').filter((name) => name !== '' && !name.startsWith('test/released/')))
    cpSync(join(root, file), join(copy, file), { errorOnExist: false });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
}

/** Runs a program, and throws with its output if it fails. */
async function run(program: string, args: readonly string[]): Promise<void> {
  // Its tests build their own product.
  const env = { ...process.env, CI: '', TEST_DAYBOOK: undefined };
  try {
    await promisify(execFile)(program, args, { cwd: copy, env, maxBuffer: 2 ** 24 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(
      `${program} ${args.join(' ')} failed:\n${stdout.slice(-3_000)}\n${stderr.slice(-1_000)}`,
      { cause: error },
    );
  }
}
