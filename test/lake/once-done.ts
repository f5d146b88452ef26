import { realpathSync } from 'node:fs';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

/** Acts once, right after an operation on a file or folder and before its caller continues, as a fast process of another user could. */
export function onceDone(operation: 'mkdir' | 'open' | 'readdir', path: string, act: () => void): void {
  const real = files[operation];
  const put = (one: unknown): void => {
    Object.assign(files, { [operation]: one });
    syncBuiltinESMExports();
  };
  put(async (...args: unknown[]) => {
    const result: unknown = await Reflect.apply(real, files, args);
    // Compares real paths, whatever name was used.
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
