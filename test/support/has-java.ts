import { spawnSync } from 'node:child_process';

/** Whether Spark can run here. */
export function hasJava(): boolean {
  return spawnSync('java', ['-version']).status === 0;
}
