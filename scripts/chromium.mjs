import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/**
 * Returns the path of a Chromium for the tests of pages. Gets one if there is none: from apt as root on Debian and derivatives, otherwise
 * from Playwright. Plain JavaScript, because the set-up calls it.
 *
 * @param {{ report: (progress: string) => void }} input
 * @returns {Promise<string>}
 */
export async function ensureChromium({ report }) {
  const there = await findChromium();
  if (there !== undefined) return there;
  const failures = [];
  for (const { name, isPossible, command, args } of waysToInstall) {
    if (!(await isPossible())) continue;
    report(`installing by ${name}`);
    try {
      await run(command, args);
      const installed = await findChromium();
      if (installed !== undefined) return installed;
      failures.push(`${name} brought none.`);
    } catch (error) {
      failures.push(`${name} failed: ${error.message}.`);
    }
  }
  throw new Error(
    `There is no Chromium for the tests of pages. ${failures.join(' ')} Install Chromium or Chrome, or set CHROMIUM_PATH to one.`,
  );
}

/**
 * Returns the installed Chromium: CHROMIUM_PATH, a system-wide one, or Playwright's own, in this order.
 *
 * @returns {Promise<string | undefined>}
 */
export async function findChromium() {
  const chosen = process.env.CHROMIUM_PATH;
  if (chosen) {
    if (await isExecutable(chosen)) return chosen;
    throw new Error(`CHROMIUM_PATH is ${chosen}, which cannot be run; correct it or unset it.`);
  }
  for (const file of [...onPath(), ...applications, await playwrightsOwn()]) {
    if (file !== undefined && (await isExecutable(file))) return file;
  }
  return undefined;
}

const applications = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const waysToInstall = [
  {
    name: 'apt-get',
    isPossible: async () => process.getuid?.() === 0 && (await isExecutable('/usr/bin/apt-get')),
    command: 'sh',
    args: [
      '-c',
      'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium',
    ],
  },
  {
    name: 'Playwright',
    isPossible: () => Promise.resolve(true),
    command: process.execPath,
    args: ['node_modules/playwright-core/cli.js', 'install', 'chromium'],
  },
];

function onPath() {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .flatMap((folder) => names.map((name) => join(folder, name)));
}

async function playwrightsOwn() {
  try {
    const { chromium } = await import('playwright-core');
    return chromium.executablePath();
  } catch {
    // Playwright is not installed yet, or has no Chromium for this system.
    return undefined;
  }
}

/** Runs a command. If it fails, the error is the last line of its output. */
function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let last = '';
    for (const output of [child.stdout, child.stderr]) {
      output.on('data', (data) => {
        last = String(data).trim().split('\n').at(-1) || last;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(undefined);
      else reject(new Error(last || `it ended with ${code}`));
    });
  });
}

async function isExecutable(file) {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
