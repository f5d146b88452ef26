import { bundleWorkflowCode, type BundleOptions, type WorkflowBundleOption } from '@temporalio/worker';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeOf } from '../errors/code-of.ts';

const workflows = fileURLToPath(new URL('../workflows/', import.meta.url));
/** Our own folders that go into the bundle. */
const sources = [workflows, fileURLToPath(new URL('../temporal/', import.meta.url))];

/**
 * Returns the workflows as one file. A release ships it. A checkout builds it after a change and caches it under node_modules, because building
 * takes 1.5 s and 60 MB in every worker. If that folder belongs to another user, it is not cached.
 */
export async function workflowBundle(): Promise<WorkflowBundleOption> {
  const released = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
  if (existsSync(released)) return { codePath: released };
  const file = path.join(cacheFolder, `workflow-bundle-${await fingerprint()}.js`);
  if (existsSync(file)) return { codePath: file };
  const code = await buildWorkflowBundle();
  try {
    await mkdir(cacheFolder, { recursive: true });
    // Two workers may build at once, so each writes its own draft, and the final name appears only with complete content.
    const draft = `${file}.${process.pid}`;
    await writeFile(draft, code);
    await rename(draft, file);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(String(codeOf(error)))) throw error;
    return { code };
  }
  return { codePath: file };
}

/** Returns the code of the workflows with all their imports. */
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
 * Stops the bundler from reading settings of other users. It looks for its own (browserslist, .swcrc), and runs code they name, in the working
 * folder, in the sources' folder, and in every folder above; it looks for the sources themselves below the working folder. The values are
 * fixed here instead.
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
    // By default, an absolute path is first looked for below the working folder.
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

/** Part of the fingerprint, because a bundle works only with the SDK version that built it. */
function sdkVersion(): string {
  const { version } = createRequire(import.meta.url)('@temporalio/worker/package.json') as {
    version: string;
  };
  return version;
}

function ignore(): void {
  // Discards the bundler's messages, which do not help the user; its errors are thrown.
}
