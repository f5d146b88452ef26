import { cpSync, existsSync, statSync } from 'node:fs';
import { extname, join, relative } from 'node:path';

/**
 * Copies what the sources in these files and folders read at run time. A checkout holds other files as well, such as settings with
 * secrets: only what is of a kind that the product reads is copied.
 */
export function copyAssets({ from, to, names }) {
  for (const name of names.filter((one) => existsSync(join(from, one)))) {
    cpSync(join(from, name), join(to, name), {
      recursive: true,
      filter: (path) =>
        !ofDbtByHand.has(relative(from, path)) && (isFolder(path) || kinds.has(extname(path))),
    });
  }
}

const kinds = new Set('.css .csv .js .md .mjs .mod .py .sql .sum .svg .txt .yml'.split(' '));

/** What dbt writes when it is run by hand in the checkout: passwords, and what the models became. */
const ofDbtByHand = new Set(['dbt/profiles.yml', 'dbt/logs', 'dbt/target']);

function isFolder(path) {
  return statSync(path).isDirectory();
}
