import { fileURLToPath } from 'node:url';
import { ensureChromium, findChromium } from './chromium.mjs';
import { createProgress } from './progress.mjs';
import { runChecks } from './run-checks.mjs';
import { runAllTests, runVitest } from './run-vitest.mjs';
import { setUp } from './setup.mjs';

/** npm test: installs what is missing, runs every check and test, side by side. Arguments go to vitest. The last line is the count. */
const root = fileURLToPath(new URL('..', import.meta.url));
const results = [];
try {
  await setUp();
  // After the packages: Playwright, which is one of them, may have to get it.
  if ((await findChromium()) === undefined)
    await createProgress(process.stdout).step('Getting a Chromium', (report) => ensureChromium({ report }));
  const args = process.argv.slice(2);
  const tests = args.length === 0 ? runAllTests(root) : runVitest(root, args);
  // The lint needs one core for a minute.
  results.push(...(await Promise.all([runChecks(root, ['types', 'lint', 'format']), tests])));
} catch (error) {
  console.error(error.message);
  results.push({ passed: 0, failed: 1 });
}
const sum = (key) => results.reduce((total, result) => total + result[key], 0);
process.exitCode = sum('failed') === 0 ? 0 : 1;
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
