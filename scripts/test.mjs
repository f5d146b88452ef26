import { fileURLToPath } from 'node:url';
import { ensureChromium, findChromium } from './chromium.mjs';
import { runChecks } from './run-checks.mjs';
import { prepareEnvironments, runAllTests, runVitest } from './run-vitest.mjs';
import { setUp } from './setup.mjs';

/** npm test: installs what is missing, runs the tests, and in parallel one check after the other. Arguments go to vitest. Ends with the count. */
const root = fileURLToPath(new URL('..', import.meta.url));
const results = [];
try {
  const args = process.argv.slice(2);
  await setUp(async (progress) => {
    // Getting one may need Playwright, which is one of the packages.
    if ((await findChromium()) === undefined)
      await progress.step('Getting a Chromium', (report) => ensureChromium({ report }));
    if (args.length === 0)
      await progress.step('Getting what single tests need', () => prepareEnvironments(root));
  });
  const tests = args.length === 0 ? runAllTests(root) : runVitest(root, args);
  results.push(...(await Promise.all([runChecks(root, ['lint', 'types', 'format']), tests])));
} catch (error) {
  console.error(error.message);
  results.push({ passed: 0, failed: 1 });
}
const sum = (key) => results.reduce((total, result) => total + result[key], 0);
process.exitCode = sum('failed') === 0 ? 0 : 1;
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
