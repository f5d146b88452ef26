import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pythonPackages } from './python-packages.mjs';
import { temporalCliChecksums, temporalCliVersion } from './temporal-cli-version.mjs';

/**
 * Writes the bill of materials of a release (CycloneDX, JSON) to the given file: the npm packages that npm itself lists from
 * package-lock.json, the Python packages pinned in dbt/requirements.txt and iceberg/requirements.txt, and the Temporal CLI.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const [target] = process.argv.slice(2);
const bill = npmPackages();
bill.components.push(...pythonPackages(root).map(pythonComponent), temporalCli());
writeFileSync(target, `${JSON.stringify(bill, null, 2)}\n`);

function npmPackages() {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'];
  return JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64_000_000 }));
}

function pythonComponent({ name, version, license, sha256 }) {
  const purl = `pkg:pypi/${name.toLowerCase()}@${version}`;
  return {
    'bom-ref': purl,
    type: 'library',
    name,
    version,
    purl,
    licenses: [{ expression: license }],
    // One hash for each wheel that may be used.
    hashes: sha256.map((content) => ({ alg: 'SHA-256', content })),
  };
}

function temporalCli() {
  const purl = `pkg:github/temporalio/cli@v${temporalCliVersion}`;
  return {
    'bom-ref': purl,
    type: 'application',
    name: 'temporal',
    version: temporalCliVersion,
    purl,
    licenses: [{ license: { id: 'MIT' } }],
    hashes: Object.values(temporalCliChecksums).map((content) => ({ alg: 'SHA-256', content })),
  };
}
