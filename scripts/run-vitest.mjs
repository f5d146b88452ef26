import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Runs the tests, which print as they run, and counts them.
 *
 * @param {string} root
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string>>} [env] added to the current environment
 * @returns {Promise<{ passed: number, failed: number }>}
 */
export async function runVitest(root, args, env = {}) {
  return count(await play(root, args, env));
}

/**
 * Runs all tests, then reruns the failed files alone: real servers, kills and deadlines can fail on a machine that is busy with several
 * files at a time. A test file that passes only then is named, and counts as passed.
 *
 * @param {string} root
 * @returns {Promise<{ passed: number, failed: number }>}
 */
export async function runAllTests(root) {
  const first = await play(root, []);
  const broken = first.files.filter(({ status }) => status === 'failed');
  // More failures than this are no coincidence.
  if (broken.length === 0 || broken.length > 5) return count(first);
  console.log(`Once more, alone: ${broken.map(({ name }) => relative(root, name)).join(', ')}`);
  const second = await play(root, broken.map(({ name }) => name).concat('--no-file-parallelism'));
  const failedFirst = new Set(
    testsOf(broken)
      .filter(isFailed)
      .map(({ fullName }) => fullName),
  );
  for (const test of testsOf(second.files))
    if (test.status === 'passed' && failedFirst.has(test.fullName))
      console.log(`Passed on its second try: ${test.fullName}`);
  return count({
    files: first.files.filter((file) => !broken.includes(file)).concat(second.files),
    code: second.code,
  });
}

/**
 * Installs what single tests need, so that none of them waits for it.
 *
 * @param {string} root
 */
export async function prepareEnvironments(root) {
  const [loader, program] = ['scripts/load-typescript.mjs', 'test/support/prepare-environments.ts'].map(
    (file) => join(root, file),
  );
  const child = spawn(process.execPath, ['--import', pathToFileURL(loader).href, program], {
    stdio: 'inherit',
  });
  await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
}

async function play(root, args, env = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-test-'));
  try {
    const reportFile = join(folder, 'report.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
    const code = await run(root, ['run', ...reporters, ...args], env);
    return { files: await readReport(reportFile), code };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function run(root, args, env) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(process.execPath, [vitest, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
}

async function readReport(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8')).testResults;
  } catch (error) {
    if (error.code === 'ENOENT') return []; // vitest ended before it began, and printed the reason.
    throw error;
  }
}

function count({ files, code }) {
  const tests = testsOf(files);
  const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
  for (const test of skipped) console.log(`Skipped: ${test.fullName}`);
  const passed = tests.filter(({ status }) => status === 'passed').length;
  const failedTests = tests.filter(isFailed).length;
  // A file that does not load has no tests, and an unhandled error belongs to no test; both must count.
  const brokenFiles = files.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some(isFailed),
  );
  const failed = failedTests + brokenFiles.length;
  return { passed, failed: failed === 0 && code !== 0 ? 1 : failed };
}

function testsOf(files) {
  return files.flatMap((file) => file.assertionResults);
}

function isFailed({ status }) {
  return status === 'failed';
}
