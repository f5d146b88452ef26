import { join } from 'node:path';

/** In a home: what commands that only look at a lake have downloaded, while they last. */
export function temporaryFolder(home: string): string {
  return join(home, 'tmp');
}
