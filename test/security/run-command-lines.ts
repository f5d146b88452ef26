import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { testProgram } from '../support/daybook-process.ts';

/** Runs command lines of `daybook` in one process with this environment and folder, and returns their whole output. */
export async function runCommandLines(
  lines: readonly (readonly string[])[],
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string>> },
): Promise<string> {
  const child = spawn(process.execPath, testProgram('test/security/command-lines-main.ts'), {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TSX_TSCONFIG_PATH: tsconfig, ...env },
  });
  child.stdin.end(JSON.stringify(lines));
  const [printed, aside] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return printed + aside;
}

const tsconfig = fileURLToPath(new URL('../../tsconfig.json', import.meta.url));
