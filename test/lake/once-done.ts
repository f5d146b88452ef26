import { realpathSync } from 'node:fs';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

/**
 * Acts once, right after somebody has done something with a file or folder, and before they go on: what a process of another user may do at
 * that moment if it is fast enough.
 */
export function onceDone(operation: 'mkdir' | 'open' | 'readdir', path: string, act: () => void): void {
  const real = files[operation];
  const put = (one: unknown): void => {
    Object.assign(files, { [operation]: one });
    syncBuiltinESMExports();
  };
  put(async (...args: unknown[]) => {
    const result: unknown = await Reflect.apply(real, files, args);
    // By whatever name it was reached.
    if (realpathSync(String(args[0])) === path) {
      put(real);
      act();
    }
    return result;
  });
  onTestFinished(() => {
    put(real);
  });
}
