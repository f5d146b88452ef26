import { existsSync, readFileSync } from 'node:fs';

/** Returns the version in package.json, which is one folder up in a checkout and two in a release. */
export function productVersion(): string {
  const file = ['../package.json', '../../package.json']
    .map((path) => new URL(path, import.meta.url))
    .find((url) => existsSync(url));
  if (file === undefined) throw new Error('package.json is missing: install Daybook again.');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
