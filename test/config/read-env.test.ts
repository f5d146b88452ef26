import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigurationError } from '../../config/configuration-error.ts';
import { readEnv } from '../../config/read-env.ts';

const startedIn = process.cwd();
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'daybook-env-'));
  process.chdir(folder);
});

afterEach(() => {
  process.chdir(startedIn);
  rmSync(folder, { recursive: true });
  delete process.env.DAYBOOK_LOOKBACK;
});

test('a .env file in the working folder adds to the environment, which takes precedence', () => {
  writeFileSync('.env', '# ours\nDAYBOOK_LOOKBACK=5m\nDAYBOOK_HOME="/var/lib/day book"\n');
  process.env.DAYBOOK_LOOKBACK = '1h';
  expect(readEnv()).toMatchObject({ DAYBOOK_LOOKBACK: '1h', DAYBOOK_HOME: '/var/lib/day book' });
});

test('an unreadable .env is a configuration error', () => {
  mkdirSync('.env');
  expect(() => readEnv()).toThrow(ConfigurationError);
  expect(() => readEnv()).toThrow('.env cannot be read (EISDIR): it must be a file that this user may read.');
});

test('without a .env file it is the environment alone', () => {
  expect(readEnv()).toEqual({ ...process.env });
});
