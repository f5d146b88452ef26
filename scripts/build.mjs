import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { copyAssets } from './copy-assets.mjs';

/**
 * npm run build: creates dist/, which is all that an installed package needs. In addition to the bundled sources it contains the files that
 * they read at run time, at the same relative paths as in the checkout. `--out` names another folder, `--no-check` skips the type
 * check, `--no-bill` skips the bill of materials, and `--also` bundles a program that is not part of the product.
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

/** The sources that are started as processes. */
const programs = ['cli/main.ts', 'activities/export/export-process.ts', 'sandbox/main.ts'];
/**
 * Packages that nearly every command loads, and their dependencies: they go into the bundle too. None of them has a program, a thread or
 * a file that it looks for at run time, and none is also loaded by a package that stays outside.
 */
const bundledPackages = new Set([
  'kysely',
  'zod',
  'commander',
  'fastest-levenshtein',
  'pg',
  'pg-connection-string',
  'pg-int8',
  'pg-pool',
  'pg-protocol',
  'pg-types',
  'pgpass',
  'split2',
  'xtend',
  'postgres-array',
  'postgres-bytea',
  'postgres-date',
  'postgres-interval',
  'pg-cloudflare',
  'pg-copy-streams',
]);
/** Node scans an imported CommonJS package for its exports first, which costs a tenth of a second of CPU; a required one is not scanned. */
const requiredPackages = new Set(['@temporalio/client', '@temporalio/common', '@temporalio/envconfig']);
/** CommonJS packages load those of Node by `require`. */
const requireOfNode = `import { createRequire as createRequireOfBundle } from 'node:module';
const require = createRequireOfBundle(import.meta.url);`;

rmSync(dist, { recursive: true, force: true });
if (options['no-check'] !== true) checkTypes();
await bundle(programs, 'bundle');
// Bundled separately, so that the product does not depend on it.
if (options.also.length > 0) await bundle(options.also, 'bundle-also');
copyAssets({ from: root, to: dist, names: [...sources, ...runtimeScripts(), 'temporal-cli', 'dbt'] });
await bundleWorkflows();
if (options['no-bill'] !== true) listMaterials();

function checkTypes() {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = ['--project', join(root, 'tsconfig.build.json')];
  const { status } = spawnSync(process.execPath, [tsc, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(1); // tsc has printed the reason.
}

/**
 * Bundles the sources. Loading 680 files took most of the 0.6 s of CPU that a command needed to start; with 100 files it takes 0.35 s.
 * Sources that are imported on demand stay in separate files.
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

/** Keeps packages where npm puts them, and lets a bundled source find its neighboring files as if it were in its own place. */
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

/** Returns the name of a package: `@scope/name/file` belongs to `@scope/name`. */
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

/** The scripts that the product itself uses, to get a Temporal CLI. */
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

/** Bundles the workflows once: in the worker it would take 1.5 s and 60 MB at every start. */
async function bundleWorkflows() {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const workflowsPath = join(root, 'workflows', 'index.ts');
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
  writeFileSync(join(dist, 'workflow-bundle.js'), code);
}

/** Writes the bill of materials of a release, for users who must know the components of everything they run. */
function listMaterials() {
  const { status } = spawnSync(
    process.execPath,
    [join(root, 'scripts', 'sbom.mjs'), join(dist, 'sbom.cdx.json')],
    {
      stdio: 'inherit',
    },
  );
  if (status !== 0) process.exit(1); // The script has printed the reason.
}
