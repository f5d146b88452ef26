// Preloaded into a process, which dies by SIGKILL right before one file operation.
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const { operation, path, time = 1 } = JSON.parse(process.env.TEST_KILL_BEFORE);
const real = files[operation];
let times = 0;
files[operation] = (...args) => {
  const isMeant = new RegExp(path).test(String(args[0]));
  if (isMeant) times += 1;
  if (isMeant && times === time) process.kill(process.pid, 'SIGKILL');
  return real(...args);
};
syncBuiltinESMExports();
