import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

test('a Ctrl-C delivered twice counts once, and a later one ends the process at once', async () => {
  const { code, said } = await stoppedBy(`
    for (const signal of ['SIGINT', 'SIGINT']) process.kill(process.pid, signal);
    setTimeout(() => process.kill(process.pid, 'SIGINT'), 1_500);`);
  expect(said).toBe('stopping\n');
  expect(code).toBe(130);
});

test('a closed terminal stops a process as Ctrl-C does', async () => {
  const { code, said } = await stoppedBy(`
    process.kill(process.pid, 'SIGHUP');
    setTimeout(() => process.exit(0), 100);`);
  expect(said).toBe('stopping\n');
  expect(code).toBe(0);
});

/** The outcome of a process that waits to be stopped and then runs the script. */
async function stoppedBy(script: string): Promise<{ code: number | null; said: string }> {
  const module = new URL('../../cli/until-stopped.ts', import.meta.url).href;
  const program = `
    const { untilStopped } = await import(${JSON.stringify(module)});
    untilStopped().then(() => console.log('stopping'));
    setInterval(() => undefined, 60_000);
    ${script}`;
  const tsx = ['--import', import.meta.resolve('tsx'), '--input-type=module'];
  const child = spawn(process.execPath, [...tsx, '--eval', program]);
  let said = '';
  child.stdout.on('data', (text: Buffer) => (said += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}
