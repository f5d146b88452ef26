import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Counted, Proof } from './proofs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the program or the tests of a proof; what they say on the way is shown as they say it. */
export async function runProof(run: Proof['run']): Promise<unknown> {
  return 'program' in run ? resultOfProgram(run.program) : countTests(run);
}

/** A program says what it found on the last line of its output, whether that is good or bad. */
async function resultOfProgram(program: readonly string[]): Promise<unknown> {
  const output = await outputOf(['--import', 'tsx', ...program], {});
  const last = output.trim().split('\n').at(-1) ?? '';
  if (!last.startsWith('{')) throw new Error(`${program.join(' ')} ended without a result.`);
  return JSON.parse(last);
}

async function countTests({ tests, env }: Extract<Proof['run'], { tests: unknown }>): Promise<Counted> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-proof-'));
  const report = join(folder, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    await outputOf(['node_modules/vitest/vitest.mjs', 'run', ...tests, ...reporters], env);
    const { numPassedTests, numFailedTests } = JSON.parse(await readFile(report, 'utf8')) as {
      numPassedTests: number;
      numFailedTests: number;
    };
    return { passed: numPassedTests, failed: numFailedTests };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function outputOf(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    process.stderr.write(text);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => {
      resolve(output);
    });
  });
}
