import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runVitest } from '../../scripts/run-vitest.mjs';
import type { Proof } from './proofs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the program or the tests of a proof, and shows their output as it comes. */
export async function runProof(run: Proof['run']): Promise<unknown> {
  return 'program' in run ? resultOfProgram(run.program) : runVitest(root, run.tests, run.env);
}

/** Parses the last line of a program's output, which is its result, good or bad. */
async function resultOfProgram(program: readonly string[]): Promise<unknown> {
  const output = await captureOutput(['--import', 'tsx', ...program]);
  const last = output.trim().split('\n').at(-1) ?? '';
  if (!last.startsWith('{')) throw new Error(`${program.join(' ')} ended without a result.`);
  return JSON.parse(last);
}

function captureOutput(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
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
