import { spawn } from 'node:child_process';

/**
 * Runs the package scripts `check:<name>` one after the other and prints the output of those that fail. They share the cores with the tests,
 * whose deadlines hold next to one more process, but not next to three.
 *
 * @param {string} root
 * @param {string[]} names
 * @returns {Promise<{ passed: number, failed: number }>}
 */
export async function runChecks(root, names) {
  const verdicts = [];
  for (const name of names) verdicts.push(await runCheck(root, name));
  const passed = verdicts.filter(Boolean).length;
  return { passed, failed: names.length - passed };
}

async function runCheck(root, name) {
  const started = Date.now();
  const npm = spawn('npm', ['run', '--silent', `check:${name}`], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (text) => (output += text));
  const code = await new Promise((resolve, reject) => npm.once('close', resolve).once('error', reject));
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(
    code === 0 ? `Check ${name}: passed in ${seconds} s` : `Check ${name}: FAILED\n${output.trim()}`,
  );
  return code === 0;
}
