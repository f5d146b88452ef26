import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs the tests, which print as they go, and counts them.
 *
 * @param {string} root
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string>>} [env] beside the environment there is
 * @returns {Promise<{ passed: number, failed: number }>}
 */
export async function runVitest(root, args, env = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-test-'));
  try {
    const reportFile = join(folder, 'report.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
    const code = await run(root, ['run', ...reporters, ...args], env);
    return count(await readReport(reportFile), code);
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
    if (error.code === 'ENOENT') return []; // vitest ended before it began, and said why.
    throw error;
  }
}

function count(files, code) {
  const tests = files.flatMap((file) => file.assertionResults);
  const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
  for (const test of skipped) console.log(`Skipped: ${test.fullName}`);
  const passed = tests.filter(({ status }) => status === 'passed').length;
  const failedTests = tests.filter(({ status }) => status === 'failed').length;
  // A file that does not load has no tests, and an unhandled error belongs to none: both must count.
  const brokenFiles = files.filter(
    (file) => file.status === 'failed' && file.assertionResults.every(({ status }) => status !== 'failed'),
  );
  const failed = failedTests + brokenFiles.length;
  return { passed, failed: failed === 0 && code !== 0 ? 1 : failed };
}
