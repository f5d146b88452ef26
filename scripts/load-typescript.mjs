import { lstatSync, mkdirSync, statSync } from 'node:fs';
import { register as registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Lets this process import the TypeScript of the checkout. The launcher imports it first, and processes that Daybook starts get it by
 * `--import`, so that only this file decides which code runs.
 */
const { TMPDIR, TSX_DISABLE_CACHE } = process.env;
// tsx runs any file that it finds in a folder of a known name in the temporary folder, whoever created it. It looks up that folder while
// it is loaded, both in this thread and in its hooks thread, which gets the environment as it is when that thread starts.
const cache = ownFolder(new URL('../node_modules/', import.meta.url));
const changed = cache === undefined ? { TSX_DISABLE_CACHE: '1' } : { TMPDIR: cache };
Object.assign(process.env, changed);
// A module imported by NODE_OPTIONS, such as a tracer, may have started the hooks thread already.
if (process.env.NODE_OPTIONS !== undefined) {
  const code = 'export const initialize = (changed) => Object.assign(process.env, changed);';
  registerHooks(`data:text/javascript,${encodeURIComponent(code)}`, { data: changed });
}
const { register } = await import('tsx/esm/api');
// Always our tsconfig: otherwise tsx would use one in the working folder or any folder above it, which could change what
// `import 'zod'` means.
register({ tsconfig: fileURLToPath(new URL('../tsconfig.json', import.meta.url)) });
setVariable('TMPDIR', TMPDIR);
setVariable('TSX_DISABLE_CACHE', TSX_DISABLE_CACHE);

/**
 * Returns the folder for compiled sources: next to the packages, so that whoever can replace it can replace them as well.
 * Undefined if another user can write to it, or owns the checkout: then each start compiles, which takes half a
 * second more.
 */
function ownFolder(packages) {
  try {
    const folder = fileURLToPath(new URL('.tsx', packages));
    if (!isOurs(statSync(packages))) return undefined; // Another owner of the packages could not remove the folder with them.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const made = lstatSync(folder);
    return made.isDirectory() && isOurs(made) && (made.mode & 0o022) === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}

function isOurs({ uid }) {
  return uid === process.geteuid();
}

function setVariable(name, value) {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
