import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/**
 * npm run build: makes dist/, which is all that an installed package needs. Beside the compiled sources it holds what they
 * read at run time, at the same places relative to each other as in the checkout. `--out` makes another folder,
 * `--no-check` leaves the types to somebody else.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options } = parseArgs({
  options: { out: { type: 'string' }, 'no-check': { type: 'boolean' } },
});
const dist = options.out ?? join(root, 'dist');
const { include: sources } = JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8'));

rmSync(dist, { recursive: true, force: true });
compile();
copyAssets([...sources, ...runtimeScripts(), 'temporal-cli', 'dbt']);
await bundleWorkflows();
listMaterials();

function compile() {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = ['--project', join(root, 'tsconfig.build.json'), '--outDir', dist];
  if (options['no-check'] === true) args.push('--noCheck');
  const { status } = spawnSync(process.execPath, [tsc, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(1); // tsc has said why.
}

/** Everything in these files and folders that is not TypeScript. */
function copyAssets(names) {
  for (const name of names.filter((one) => existsSync(join(root, one)))) {
    cpSync(join(root, name), join(dist, name), { recursive: true, filter: (path) => !/\.tsx?$/.test(path) });
  }
}

/** Those that the product itself calls, to get a Temporal CLI. */
function runtimeScripts() {
  return [
    'temporal-cli',
    'temporal-cli-version',
    'without-secrets',
    'install-temporal-cli',
    'download-temporal-cli',
    'build-temporal-cli',
  ].map((name) => `scripts/${name}.mjs`);
}

/** Built here once: in the worker it would take 1.5 s and 60 MB at every start. */
async function bundleWorkflows() {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const workflowsPath = join(root, 'workflows', 'index.ts');
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
  writeFileSync(join(dist, 'workflow-bundle.js'), code);
}

/** What a release consists of, for who has to know it of everything that runs. */
function listMaterials() {
  const { status } = spawnSync(
    process.execPath,
    [join(root, 'scripts', 'sbom.mjs'), join(dist, 'sbom.cdx.json')],
    {
      stdio: 'inherit',
    },
  );
  if (status !== 0) process.exit(1); // It has said why.
}
