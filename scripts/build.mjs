import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { copyAssets } from './copy-assets.mjs';

/**
 * npm run build: makes dist/, which is all that an installed package needs. Beside the bundled sources it holds what they
 * read at run time, at the same places relative to each other as in the checkout. `--out` makes another folder,
 * `--no-check` leaves the types to somebody else and `--no-bill` the bill of materials, `--also` bundles a program that the product does not have.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options } = parseArgs({
  options: {
    out: { type: 'string' },
    'no-check': { type: 'boolean' },
    'no-bill': { type: 'boolean' },
    also: { type: 'string', multiple: true, default: [] },
  },
});
const dist = options.out ?? join(root, 'dist');
const { include: sources } = JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8'));

/** What is started as a process. */
const programs = ['cli/main.ts', 'activities/export/export-process.ts', 'sandbox/main.ts'];
/**
 * Packages that nearly every command opens, and those that these open: they go into the bundle too. None of them has a program, a thread or
 * a file that it looks for at run time, and none is loaded a second time by a package that stays outside.
 */
const bundledPackages = new Set([
  'kysely',
  'zod',
  'commander',
  'fastest-levenshtein',
  ...[
    'pg',
    'pg-connection-string',
    'pg-int8',
    'pg-pool',
    'pg-protocol',
    'pg-types',
    'pgpass',
    'split2',
    'xtend',
  ],
  ...[
    'postgres-array',
    'postgres-bytea',
    'postgres-date',
    'postgres-interval',
    'pg-cloudflare',
    'pg-copy-streams',
  ],
]);
/** What is imported of others in CommonJS is looked through for its names first, a tenth of a second of CPU; what is required is not. */
const requiredPackages = new Set(['@temporalio/client', '@temporalio/common', '@temporalio/envconfig']);
/** Packages in CommonJS ask for those of Node by `require`. */
const requireOfNode = `import { createRequire as createRequireOfBundle } from 'node:module';
const require = createRequireOfBundle(import.meta.url);`;

rmSync(dist, { recursive: true, force: true });
if (options['no-check'] !== true) checkTypes();
await bundle(programs, 'bundle');
// On its own: what the product consists of does not depend on it.
if (options.also.length > 0) await bundle(options.also, 'bundle-also');
copyAssets({ from: root, to: dist, names: [...sources, ...runtimeScripts(), 'temporal-cli', 'dbt'] });
await bundleWorkflows();
if (options['no-bill'] !== true) listMaterials();

function checkTypes() {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = ['--project', join(root, 'tsconfig.build.json')];
  const { status } = spawnSync(process.execPath, [tsc, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(1); // tsc has said why.
}

/**
 * Opening 680 files took most of the 0.6 s of CPU that a command needed to start; of 100 it takes 0.35 s. What it imports when it gets
 * there stays in files of its own.
 */
async function bundle(entries, folder) {
  await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(entries.map((source) => [bundled(source), source])),
    outdir: join(dist, folder),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: true,
    sourcesContent: false,
    banner: { js: requireOfNode },
    logLevel: 'warning',
    plugins: [{ name: 'daybook', setup: keepPlaces }],
  });
  for (const source of entries) {
    const program = join(dist, compiled(source));
    mkdirSync(dirname(program), { recursive: true });
    const file = relative(dirname(program), join(dist, folder, `${bundled(source)}.js`));
    writeFileSync(program, `import '${file}';\n`);
  }
}

/** Packages stay where npm puts them; and a source finds what it looks for beside itself where the source would be. */
function keepPlaces({ onResolve, onLoad }) {
  onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
    if (kind === 'entry-point' || bundledPackages.has(packageOf(path))) return undefined;
    if (kind === 'import-statement' && requiredPackages.has(path)) return { path, namespace: 'required' };
    return { path, external: true };
  });
  onLoad({ filter: /^/, namespace: 'required' }, ({ path }) => ({
    contents: `module.exports = require(${JSON.stringify(path)});`,
  }));
  onLoad({ filter: /\.(tsx?|mjs)$/ }, ({ path }) => {
    const source = relative(root, path);
    if (source.startsWith('node_modules')) return undefined;
    const here = `new URL('../${compiled(source)}', import.meta.url).href`;
    const contents = readFileSync(path, 'utf8').replaceAll('import.meta.url', here);
    return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' };
  });
}

/** `@scope/name/file` is of `@scope/name`. */
function packageOf(path) {
  return path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
}

function compiled(source) {
  return source.replace(/\.tsx?$/, '.js');
}

function bundled(source) {
  return source.replace(/\.ts$/, '').replaceAll('/', '-');
}

/** Those that the product itself calls, to get a Temporal CLI. */
function runtimeScripts() {
  return [
    'temporal-cli',
    'temporal-cli-version',
    'env-file',
    'without-secrets',
    'own-cache',
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
