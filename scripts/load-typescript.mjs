import { lstatSync, mkdirSync, statSync } from 'node:fs';
import { register as registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Lets this process import the TypeScript of the checkout. Imported first by the launcher, and given as `--import` to the
 * processes that Daybook starts, so that what decides which code runs is said here alone.
 */
const { TMPDIR, TSX_DISABLE_CACHE } = process.env;
// tsx runs what it finds in a folder of a known name in the temporary one, whoever made it. It asks for that folder while it
// is loaded, in this thread and in the one of its hooks, which gets the environment as it is when it starts.
const cache = ownFolder(new URL('../node_modules/', import.meta.url));
const changed = cache === undefined ? { TSX_DISABLE_CACHE: '1' } : { TMPDIR: cache };
Object.assign(process.env, changed);
// What is imported by NODE_OPTIONS, such as a tracer, may have started that thread already.
if (process.env.NODE_OPTIONS !== undefined) {
  const code = 'export const initialize = (changed) => Object.assign(process.env, changed);';
  registerHooks(`data:text/javascript,${encodeURIComponent(code)}`, { data: changed });
}
const { register } = await import('tsx/esm/api');
// Ours, wherever the command is typed: tsx would obey that of the working folder, or of any above it, which says what
// `import 'zod'` means.
register({ tsconfig: fileURLToPath(new URL('../tsconfig.json', import.meta.url)) });
setVariable('TMPDIR', TMPDIR);
setVariable('TSX_DISABLE_CACHE', TSX_DISABLE_CACHE);

/**
 * Where compiled sources are kept: beside the packages, so that whoever can replace the folder can replace those as well.
 * Undefined if another user can write into it, or the checkout is another's: then each start compiles, which takes half a
 * second more.
 */
function ownFolder(packages) {
  try {
    const folder = fileURLToPath(new URL('.tsx', packages));
    if (!isOurs(statSync(packages))) return undefined; // It would be in its owner's way when the packages are removed.
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
