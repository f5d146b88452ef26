import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { ensureChromium } from './chromium.mjs';
import { createProgress } from './progress.mjs';

/** npm run pictures: runs the tour in a temporary folder, and takes the pictures of the docs from the result. */
const root = fileURLToPath(new URL('..', import.meta.url));
const progress = createProgress(process.stdout);
const home = await mkdtemp(join(tmpdir(), 'daybook-pictures-'));
const tour = spawn(process.execPath, [join(root, 'bin/daybook.js'), 'tour'], {
  cwd: home,
  env: { ...process.env, DAYBOOK_HOME: home, DAYBOOK_HTTP_PORT: '0' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  let said = '';
  await progress.step('Taking the tour', async () => {
    said = await untilItRuns();
  });
  await progress.step('Making the pictures', () => takePictures(said));
} finally {
  if (tour.exitCode === null) {
    const ended = new Promise((resolve) => tour.once('close', resolve));
    tour.kill('SIGINT');
    await ended;
  }
  await rm(home, { recursive: true, force: true });
}

/** @returns {Promise<string>} the output of the tour */
function untilItRuns() {
  return new Promise((resolve, reject) => {
    let said = '';
    tour.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
      if (said.includes('Running. Stop with Ctrl-C.')) resolve(said);
    });
    tour.once('error', reject);
    tour.once('close', () => reject(new Error(`The tour ended before its end: ${said.slice(-500)}`)));
  });
}

/** @param {string} said */
async function takePictures(said) {
  const at = (name) => new RegExp(`^${name} +(http\\S+)$`, 'm').exec(said)?.[1] ?? '';
  const browser = await chromium.launch({
    executablePath: await ensureChromium({ report: (text) => console.error(text) }),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const dashboard = `${at('Dashboard')}?connection=acme-us&currency=USD`;
    await take('dashboard', dashboard, { height: 1180, ready: '#ap-ageing svg' });
    await take('console', at('Daybook console'), { height: 560, ready: 'main' });
    const run = `${at('Temporal Web UI')}/namespaces/default/workflows/sync%2Facme-us`;
    await take('temporal', run, { height: 1180, ready: 'text=readStream' });
  } finally {
    await browser.close();
  }

  async function take(name, url, { height, ready }) {
    const page = await browser.newPage({ viewport: { width: 1200, height }, colorScheme: 'light' });
    await page.goto(url);
    await page.locator(ready).first().waitFor();
    await page.screenshot({ path: join(root, 'docs', `${name}.png`) });
    await page.close();
  }
}
