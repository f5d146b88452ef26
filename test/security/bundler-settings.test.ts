import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

test('what the bundler of workflows is told by files above the working folder runs no code', async () => {
  const shared = await mkdtemp(join(tmpdir(), 'daybook-shared-'));
  onTestFinished(() => rm(shared, { recursive: true }));
  const package_ = join(shared, 'node_modules', 'browserslist-config-x');
  await mkdir(package_, { recursive: true });
  await mkdir(join(shared, 'own'));
  await writeFile(join(shared, '.browserslistrc'), 'extends browserslist-config-x\n');
  const code = `require('node:fs').writeFileSync(${JSON.stringify(join(shared, 'ran'))}, ''); module.exports = ['defaults'];`;
  await writeFile(join(package_, 'index.js'), code);
  const root = new URL('../../', import.meta.url);
  const script = `const { buildWorkflowBundle } = await import('${new URL('worker/workflow-bundle.ts', root).href}');
    console.log((await buildWorkflowBundle()).length > 100_000);`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', new URL('scripts/load-typescript.mjs', root).href, '--input-type=module', '-e', script],
    { cwd: join(shared, 'own') },
  );
  expect(stdout).toBe('true\n');
  expect(await readdir(shared)).toEqual(['.browserslistrc', 'node_modules', 'own']);
});
