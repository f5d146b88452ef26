import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pythonLicenses } from './python-licenses.mjs';

/**
 * Returns the Python packages pinned in dbt/*requirements.txt and iceberg/requirements.txt, each with its license and the SHA-256 of every
 * file that may be used.
 *
 * @param {string} root
 */
export function pythonPackages(root) {
  const pinned = requirements.flatMap((file) => pinnedBy(readFileSync(join(root, file), 'utf8')));
  const byVersion = new Map(pinned.map((wheel) => [`${wheel.name} ${wheel.version}`, wheel]));
  return [...byVersion.keys()].sort().map((key) => byVersion.get(key));
}

const requirements = [
  'dbt/requirements.txt',
  'dbt/spark-requirements.txt',
  'dbt/spark-build-requirements.txt',
  'iceberg/requirements.txt',
];

function pinnedBy(text) {
  return [
    ...text.matchAll(
      /^([\w.-]+)(?:\[[\w, -]+\])?==(\S+)(?: ; [^\\\n]+)?((?: *\\\n +--hash=sha256:[0-9a-f]{64})+)/gm,
    ),
  ].map(([, name, version, hashes]) => ({
    name,
    version,
    license: licenseOf(name),
    sha256: [...hashes.matchAll(/sha256:([0-9a-f]{64})/g)].map(([, content]) => content),
  }));
}

function licenseOf(name) {
  const license = pythonLicenses.get(name.toLowerCase());
  if (license === undefined) throw new Error(`The licence of ${name} is not in scripts/python-licenses.mjs.`);
  return license;
}
