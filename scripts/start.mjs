import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import { setUp } from './setup.mjs';

/** npm start: installs what is missing, then hands over to the command line; arguments are passed on. */
try {
  await setUp();
} catch (error) {
  console.error(error.message);
  process.exit(error.exitCode ?? 1);
}
if (existsSync('.env')) loadEnvFile(); // The environment itself wins over the file.
process.argv.splice(2, 0, process.env.DAYBOOK_API_URL ? 'up' : 'tour');
await import('../bin/daybook.js');
