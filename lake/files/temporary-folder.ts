import { join } from 'node:path';

/** The folder in a home for temporary downloads of commands that only read a lake. */
export function temporaryFolder(home: string): string {
  return join(home, 'tmp');
}
