import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

test('the workflow bundler ignores settings and sources in the working folder and in its parent folders', async () => {
  const shared = await mkdtemp(join(tmpdir(), 'daybook-shared-'));
  onTestFinished(() => rm(shared, { recursive: true }));
  const package_ = join(shared, 'node_modules', 'browserslist-config-x');
  await mkdir(package_, { recursive: true });
  await mkdir(join(shared, 'own'));
  await writeFile(join(shared, '.browserslistrc'), 'extends browserslist-config-x\n');
  const code = `require('node:fs').writeFileSync(${JSON.stringify(join(shared, 'ran'))}, ''); module.exports = ['defaults'];`;
  await writeFile(join(package_, 'index.js'), code);
  const root = new URL('../../', import.meta.url);
  const planted = join(shared, 'own', fileURLToPath(root), 'workflows');
  await mkdir(planted, { recursive: true });
  await writeFile(join(planted, 'index.ts'), `export const planted = 'a planted workflow';`);
  const script = `const { buildWorkflowBundle } = await import('${new URL('worker/workflow-bundle.ts', root).href}');
    const code = await buildWorkflowBundle();
    console.log(code.includes('syncConnection'), code.includes('a planted workflow'));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', new URL('scripts/load-typescript.mjs', root).href, '--input-type=module', '-e', script],
    { cwd: join(shared, 'own') },
  );
  expect(stdout).toBe('true false\n');
  expect(await readdir(shared)).toEqual(['.browserslistrc', 'node_modules', 'own']);
});
