import { fileURLToPath } from 'node:url';
import { setUp } from './setup.mjs';

/** npm start: installs what is missing, then hands over to the command line; arguments are passed on. */
try {
  await setUp();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const command = process.env.DAYBOOK_API_URL ? 'up' : 'tour';
const launcher = fileURLToPath(new URL('../bin/daybook.js', import.meta.url));
process.argv.splice(1, 1, launcher, command);
await import('../bin/daybook.js');
