import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import { setUp } from './setup.mjs';

/** npm start: installs what is missing, then starts the command line with the given arguments. */
try {
  await setUp();
} catch (error) {
  console.error(error.message);
  process.exit(error.exitCode ?? 1);
}
if (existsSync('.env')) loadEnvFile(); // The environment takes precedence over the file.
process.argv.splice(2, 0, process.env.DAYBOOK_API_URL ? 'up' : 'tour');
await import('../bin/daybook.js');
