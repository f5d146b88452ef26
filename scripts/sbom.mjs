import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonLicenses } from './python-licenses.mjs';
import { temporalCliChecksums, temporalCliVersion } from './temporal-cli-version.mjs';

/**
 * Writes the bill of materials of a release (CycloneDX, JSON) to the file that is named: the npm packages that npm itself lists from
 * package-lock.json, the Python packages that dbt/requirements.txt pins, and the Temporal CLI.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const [target] = process.argv.slice(2);
const bill = npmPackages();
bill.components.push(...pythonPackages(), temporalCli());
writeFileSync(target, `${JSON.stringify(bill, null, 2)}\n`);

function npmPackages() {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'];
  return JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64_000_000 }));
}

function pythonPackages() {
  const requirements = readFileSync(join(root, 'dbt', 'requirements.txt'), 'utf8');
  return [
    ...requirements.matchAll(
      /^([\w.-]+)(?:\[[\w,]+\])?==(\S+)(?: ; [^\\\n]+)?((?: *\\\n +--hash=sha256:[0-9a-f]{64})+)/gm,
    ),
  ].map(([, name, version, hashes]) => {
    const purl = `pkg:pypi/${name.toLowerCase()}@${version}`;
    const sha256 = [...hashes.matchAll(/sha256:([0-9a-f]{64})/g)].map(([, content]) => content);
    return {
      ...{ 'bom-ref': purl, type: 'library', name, version, purl },
      licenses: [{ expression: licenseOf(name) }],
      // One of each wheel that may be taken.
      hashes: sha256.map((content) => ({ alg: 'SHA-256', content })),
    };
  });
}

function licenseOf(name) {
  const license = pythonLicenses.get(name.toLowerCase());
  if (license === undefined) throw new Error(`The licence of ${name} is not in scripts/python-licenses.mjs.`);
  return license;
}

function temporalCli() {
  const purl = `pkg:github/temporalio/cli@v${temporalCliVersion}`;
  return {
    ...{ 'bom-ref': purl, type: 'application', name: 'temporal', version: temporalCliVersion, purl },
    licenses: [{ license: { id: 'MIT' } }],
    hashes: Object.values(temporalCliChecksums).map((content) => ({ alg: 'SHA-256', content })),
  };
}
