import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where the product keeps what it installs for later uses, and tests what they do: the next run finds it. */
export const cacheFolder: string = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'daybook');
