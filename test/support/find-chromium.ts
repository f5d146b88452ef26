import { accessSync, constants } from 'node:fs';
import path from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The Chromium of this machine: `CHROMIUM_PATH`, or one on the PATH. Throws with what to do when there is none. */
export function findChromium(): string {
  const configured = process.env.CHROMIUM_PATH;
  const folders = ['/usr/bin', ...(process.env.PATH ?? '').split(path.delimiter)];
  const candidates = [
    ...(configured === undefined ? [] : [configured]),
    ...names.flatMap((name) => folders.map((folder) => path.join(folder, name))),
  ];
  const found = candidates.find(isExecutable);
  if (found === undefined) {
    throw new Error(
      'There is no Chromium: install one (apt-get install chromium, or brew install --cask chromium), or set CHROMIUM_PATH to it.',
    );
  }
  return found;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    // Not this one.
    return false;
  }
}
