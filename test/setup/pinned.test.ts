import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withoutSecrets } from '../../scripts/without-secrets.mjs';
import { run } from './run.ts';

const root = join(import.meta.dirname, '../..');

test('an archive of the Temporal CLI with another checksum than the pinned one is refused', async () => {
  const module = new URL('../../scripts/download-temporal-cli.mjs', import.meta.url).href;
  const check = (platform: string): ReturnType<typeof run> =>
    run([
      process.execPath,
      '--input-type=module',
      '--eval',
      `import { checkArchive } from '${module}'; checkArchive('${platform}', Buffer.from('another program'));`,
    ]);
  for (const platform of ['linux_amd64', 'linux_arm64', 'darwin_amd64', 'darwin_arm64'])
    expect(await check(platform)).toMatchObject({
      stderr: expect.stringContaining('it is not the file that is pinned') as string,
    });
  expect((await check('plan9_mips')).stderr).toContain('there is no pinned release for plan9_mips');
});

test('every Go module of the Temporal CLI build has a checksum', async () => {
  const modules = await readFile(join(root, 'temporal-cli/go.mod'), 'utf8');
  const sums = await readFile(join(root, 'temporal-cli/go.sum'), 'utf8');
  const required = [...modules.matchAll(/^\t(\S+) (v\S+)/gm)].filter(
    ([, name]) => !name?.endsWith('/cliext'),
  );
  expect(required.length).toBeGreaterThan(150);
  for (const [, name, version] of required)
    expect(sums).toMatch(new RegExp(`^${name} ${version}(/go.mod)? h1:`, 'm'));
});

test.each([
  ['dbt/requirements.txt', 30],
  ['dbt/spark-requirements.txt', 30],
  ['dbt/spark-build-requirements.txt', 0],
])('every Python package in %s is pinned by version and hash', async (file, more) => {
  const requirements = await readFile(join(root, file), 'utf8');
  const packages = requirements.split(/\n(?=\w)/).filter((one) => /^\w/.test(one));
  expect(packages.length).toBeGreaterThan(more);
  for (const one of packages)
    expect(one).toMatch(/^[\w.-]+(\[[\w,]+\])?==[\w.]+ [^]*--hash=sha256:[0-9a-f]{64}/);
});

test('dbt on Spark has the same version of dbt as elsewhere', async () => {
  const versions = async (file: string): Promise<Map<string, string>> => {
    const requirements = await readFile(join(root, file), 'utf8');
    const pinned = [...requirements.matchAll(/^(dbt-[\w-]+|jinja2|agate)==([\w.]+)/gm)];
    return new Map(pinned.map(([, name = '', version = '']) => [name, version]));
  };
  const plain = await versions('dbt/requirements.txt');
  for (const [name, version] of await versions('dbt/spark-requirements.txt'))
    if (name !== 'dbt-spark') expect(`${name} ${version}`).toBe(`${name} ${plain.get(name) ?? ''}`);
});

test("installers of third-party programs receive none of Daybook's secrets, but those of package registries", () => {
  const environment = {
    PATH: '/bin',
    HTTPS_PROXY: 'http://proxy',
    NPM_TOKEN: 'registry',
    PIP_INDEX_URL: 'https://index',
    DAYBOOK_CLIENT_SECRET: 'x',
    DATABASE_URL: 'x',
    PGPASSWORD: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
    TEMPORAL_API_KEY: 'x',
    DBT_ENV_SECRET_PASSWORD: 'x',
  };
  expect(Object.keys(withoutSecrets(environment))).toEqual([
    'PATH',
    'HTTPS_PROXY',
    'NPM_TOKEN',
    'PIP_INDEX_URL',
  ]);
});
