import { cpSync, existsSync, statSync } from 'node:fs';
import { basename, extname, join, relative } from 'node:path';

/**
 * Copies the files that these sources and folders need at run time. A checkout also holds other files, such as settings with
 * secrets, so only kinds of files that the product reads are copied.
 */
export function copyAssets({ from, to, names }) {
  for (const name of names.filter((one) => existsSync(join(from, one)))) {
    cpSync(join(from, name), join(to, name), {
      recursive: true,
      filter: (path) =>
        !ofDbtByHand.has(relative(from, path)) &&
        (isFolder(path) ? basename(path) !== '__pycache__' : kinds.has(extname(path))),
    });
  }
}

const kinds = new Set('.css .csv .js .md .mjs .mod .py .sql .sum .svg .txt .yml'.split(' '));

/** Files that dbt creates when run by hand in the checkout: passwords, and the compiled models. */
const ofDbtByHand = new Set(['dbt/profiles.yml', 'dbt/logs', 'dbt/target']);

function isFolder(path) {
  return statSync(path).isDirectory();
}
