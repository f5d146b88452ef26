import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder in which the product, and the tests, keep what they install for later runs. */
export const cacheFolder: string = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'daybook');
