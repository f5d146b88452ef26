import { spawn } from 'node:child_process';

/** Runs a program to its end. Undefined variables are removed from the environment. */
export async function run(
  command: readonly [string, ...string[]],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string | undefined>> } = {},
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd: options.cwd, env: { ...process.env, ...options.env } });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve).once('error', reject);
  });
  return { code, stdout, stderr };
}
