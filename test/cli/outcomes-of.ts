import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { testProgram } from '../support/daybook-process.ts';

export interface Outcome {
  readonly line: readonly string[];
  readonly exitCode: number;
  /** Standard output and standard error together. */
  readonly said: string;
  readonly seconds: number;
}

/** Runs command lines of `daybook` one after the other in one process, with this environment and folder, and returns their outcomes. */
export async function outcomesOf(
  lines: readonly (readonly string[])[],
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string | undefined>> },
): Promise<Outcome[]> {
  const child = spawn(process.execPath, testProgram('test/cli/outcomes-main.ts'), {
    cwd,
    env: { TSX_TSCONFIG_PATH: tsconfig, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(lines));
  const said = (await text(child.stdout)).trim().split('\n');
  return said.map((line) => JSON.parse(line) as Outcome);
}

const tsconfig = fileURLToPath(new URL('../../tsconfig.json', import.meta.url));
