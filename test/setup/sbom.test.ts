import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { run } from './run.ts';

interface Component {
  name: string;
  version: string;
  purl: string;
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
}

const root = join(import.meta.dirname, '../..');
let components: Component[];

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-sbom-'));
  const file = join(folder, 'sbom.json');
  const made = await run([process.execPath, join(root, 'scripts/sbom.mjs'), file]);
  expect(made.code, made.stderr).toBe(0);
  const bill = JSON.parse(await readFile(file, 'utf8')) as { bomFormat: string; components: Component[] };
  expect(bill.bomFormat).toBe('CycloneDX');
  ({ components } = bill);
  return () => rm(folder, { recursive: true });
});

test("a release's SBOM lists its npm and Python packages, and the Temporal CLI", async () => {
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const listed = components.map(({ purl }) => decodeURIComponent(purl));
  for (const [name, version] of Object.entries(dependencies))
    expect(listed).toContain(`pkg:npm/${name}@${version}`);
  for (const file of [
    'dbt/requirements.txt',
    'dbt/spark-requirements.txt',
    'dbt/spark-build-requirements.txt',
  ]) {
    const requirements = await readFile(join(root, file), 'utf8');
    for (const [, name = '', version = ''] of requirements.matchAll(/^([\w.-]+)(?:\[[\w,]+\])?==(\S+)/gm))
      expect(listed).toContain(`pkg:pypi/${name}@${version}`);
  }
  expect(listed).toContainEqual(expect.stringMatching(/^pkg:github\/temporalio\/cli@v/));
});

test('every license in the SBOM is allowed and matches the notices', async () => {
  const notices = await readFile(join(root, 'THIRD-PARTY-NOTICES.md'), 'utf8');
  for (const component of components) {
    const license = licenseOf(component) ?? statedElsewhere.get(component.name);
    expect(allowed, component.name).toContain(license);
    const { name, purl } = component;
    if (purl.startsWith('pkg:npm') && notices.includes(`\n| [${name}](`))
      expect(notices).toMatch(new RegExp(`^\\| \\[${name}\\]\\(.*\\| ${license ?? ''} \\|$`, 'm'));
  }
});

function licenseOf({ licenses = [] }: Component): string | undefined {
  const [first] = licenses;
  return first?.expression ?? first?.license?.id ?? first?.license?.name;
}

/** Packages whose package.json does not state the license as npm reads it. */
const statedElsewhere = new Map([
  ['htmx.org', 'BSD-0-Clause'],
  ['unionfs', 'Unlicense'],
]);

/** Licenses that ask a user of the product only to keep their text. Packages under weak copyleft are used unchanged. */
const allowed = [
  ...[
    '0BSD',
    'BSD-0-Clause',
    'Apache-2.0',
    'Apache-2.0 AND MIT',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'BlueOak-1.0.0',
    'CC-BY-4.0',
    'ISC',
    'MIT',
    'MIT AND PSF-2.0',
  ],
  ...['PSF-2.0', 'Unlicense', 'Apache-2.0 OR BSD-2-Clause', 'Apache-2.0 OR BSD-3-Clause'],
  ...['LGPL-3.0-or-later', 'MPL-2.0', 'Artistic-1.0-Perl OR GPL-2.0-or-later'],
];
