import { bundleWorkflowCode, type BundleOptions, type WorkflowBundleOption } from '@temporalio/worker';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeOf } from '../errors/code-of.ts';

const workflows = fileURLToPath(new URL('../workflows/', import.meta.url));
/** All that goes into the bundle of our own. */
const sources = [workflows, fileURLToPath(new URL('../temporal/', import.meta.url))];

/**
 * The workflows as one file. A release carries it; in a checkout it is built when the workflows changed and kept under
 * node_modules, for building takes 1.5 s and 60 MB in every worker that does it itself. Where that folder is another user's it is not kept.
 */
export async function workflowBundle(): Promise<WorkflowBundleOption> {
  const released = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
  if (existsSync(released)) return { codePath: released };
  const file = path.join(cacheFolder, `workflow-bundle-${await fingerprint()}.js`);
  if (existsSync(file)) return { codePath: file };
  const code = await buildWorkflowBundle();
  try {
    await mkdir(cacheFolder, { recursive: true });
    // Two workers may build at once: each writes a file of its own, and the name appears with all of its content.
    const draft = `${file}.${process.pid}`;
    await writeFile(draft, code);
    await rename(draft, file);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(String(codeOf(error)))) throw error;
    return { code };
  }
  return { codePath: file };
}

/** The code of the workflows, with all that it imports. */
export async function buildWorkflowBundle(): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: path.join(workflows, 'index.ts'),
    logger: { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore },
    webpackConfigHook: withoutForeignSettings,
  });
  return code;
}

type WebpackConfig = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

/**
 * The bundler looks for settings of its own (browserslist, .swcrc) in the working folder and the sources', and in every folder above, and
 * runs code that they name; and for the sources themselves below the working folder. These may be another user's: what they would say is
 * said here.
 */
function withoutForeignSettings(config: WebpackConfig): WebpackConfig {
  const rules = config.module?.rules?.map((rule) => {
    if (typeof rule !== 'object' || rule === null || typeof rule.use !== 'object' || !('loader' in rule.use))
      return rule;
    const options = typeof rule.use.options === 'object' ? rule.use.options : {};
    return { ...rule, use: { ...rule.use, options: { ...options, swcrc: false } } };
  });
  return {
    ...config,
    target: 'web',
    context: checkout,
    // By default an absolute path is looked for below the working folder first.
    resolve: { ...config.resolve, roots: [] },
    module: { ...config.module, ...(rules && { rules }) },
  };
}

const checkout = fileURLToPath(new URL('..', import.meta.url));

const cacheFolder = fileURLToPath(new URL('../node_modules/.cache/daybook', import.meta.url));

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256').update(sdkVersion());
  for (const folder of sources)
    for (const name of (await readdir(folder)).sort())
      hash.update(name).update(await readFile(path.join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}

/** A bundle works only with the very SDK it was built by. */
function sdkVersion(): string {
  const { version } = createRequire(import.meta.url)('@temporalio/worker/package.json') as {
    version: string;
  };
  return version;
}

function ignore(): void {
  // What the bundler says is of no use to who runs it; its errors are thrown.
}
