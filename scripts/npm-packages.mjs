import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withoutSecrets } from './without-secrets.mjs';

/**
 * Whether node_modules matches package-lock.json. npm records what it installed as its last step, so neither an interrupted nor an
 * outdated installation passes.
 *
 * @param {string} root
 */
export async function arePackagesInstalled(root) {
  const [wanted, installed] = await Promise.all([
    readLockfile(join(root, 'package-lock.json')),
    readLockfile(join(root, 'node_modules', '.package-lock.json')),
  ]);
  return Object.entries(wanted)
    .filter(([path]) => path !== '')
    .every(([path, entry]) =>
      installed[path] ? installed[path].integrity === entry.integrity : entry.optional === true,
    );
}

/**
 * Installs exactly the packages in package-lock.json, without an audit, whose result nobody would see here. Install scripts of packages need
 * not run (npm 11 skips them): Postgres' libraries are linked when it starts, and the other scripts only save time.
 *
 * @param {string} root
 */
export async function installPackages(root) {
  const args = ['ci', '--no-audit', '--no-fund', '--prefer-offline', '--no-progress', '--loglevel=error'];
  const npm = spawn('npm', args, {
    cwd: root,
    // Scripts of packages run in this environment.
    env: withoutSecrets(process.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.on('data', (text) => {
      output = `${output}${text}`.slice(-4000);
    });
  }
  await new Promise((resolve, reject) => {
    npm.once('error', (error) =>
      reject(
        new Error(`npm cannot be run (${error.message}); it comes with Node: https://nodejs.org`, {
          cause: error,
        }),
      ),
    );
    npm.once('close', (code) =>
      code === 0
        ? resolve()
        : reject(new Error(`npm ci failed; is the npm registry in reach? It says:\n${output.trim()}`)),
    );
  });
}

async function readLockfile(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8')).packages;
  } catch (error) {
    if (error.code === 'ENOENT') return {};
    throw error;
  }
}
