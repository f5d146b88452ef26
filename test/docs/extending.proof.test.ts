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

test('docs/extending.md adds a column and a resource, and the tests that it names pass', async () => {
  copyCheckout();
  const steps = stepsOf(page);
  expect(steps.filter((step) => 'command' in step).length).toBe(4);
  expect(steps.length).toBeGreaterThan(15);
  for (const step of steps)
    if ('command' in step) await run(step.command);
    else make(step);
  await run('npx --no tsc --noEmit');
});

type Step = Edit | { readonly command: string };

interface Edit {
  readonly file: string;
  /** Undefined: the file is new. */
  readonly after: string | undefined;
  readonly isLast: boolean;
  readonly text: string;
}

/** The blocks of the page in their order. The text before an edit says where it goes; a block of `sh` is a command. */
function stepsOf(markdown: string): Step[] {
  const edit =
    /[Ii]n (?:a new file )?`([^`]+)`(?:, after `([^`]+)`( of the last list)?)?:\n\n```\w+\n([^]*?)^```$/;
  const command = /^```sh\n(.*)\n```$/;
  return [...markdown.matchAll(new RegExp(`${edit.source}|${command.source}`, 'gm'))].map(
    ([, file = '', after, last, text = '', shell]) =>
      shell === undefined ? { file, after, isLast: last !== undefined, text } : { command: shell },
  );
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

/** Runs a command as a user would type it, and throws with its output if it fails. */
async function run(command: string): Promise<void> {
  // Its tests build their own product.
  const env = { ...process.env, CI: '', TEST_DAYBOOK: undefined };
  try {
    await promisify(execFile)('sh', ['-c', command], { cwd: copy, env, maxBuffer: 2 ** 24 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} failed:\n${stdout.slice(-3_000)}\n${stderr.slice(-1_000)}`, {
      cause: error,
    });
  }
}
