import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startServerProcess, type ServerProcess } from '../../embedded/server-process.ts';
import { eventually } from '../support/eventually.ts';

const programs = { master: 'Master', worker: 'Worker' } as const;

/**
 * Starts a standalone Spark cluster on this machine for the calling test: a master that listens at `port`, and one worker, with the
 * settings of `conf`. `python` has PySpark. Returns a function that reads both logs.
 */
export async function startSparkCluster(input: {
  port: number;
  python: string;
  conf: string;
  folder: string;
  /** The environment that leads workers to a bucket. */
  env: Readonly<Record<string, string>>;
}): Promise<() => Promise<string>> {
  const { port, python, conf, folder, env } = input;
  const logFiles = Object.keys(programs).map((name) => join(folder, `${name}.log`));
  const start = (name: keyof typeof programs, args: readonly string[]): Promise<ServerProcess> =>
    startServerProcess({
      name: `The ${name} of Spark`,
      command: 'env',
      args: [
        ...Object.entries(env).map(([variable, value]) => `${variable}=${value}`),
        // The script finds Spark with this Python.
        ...[`PYSPARK_PYTHON=${python}`, `SPARK_CONF_DIR=${conf}`, `SPARK_WORKER_DIR=${join(folder, 'work')}`],
        ...[join(python, '..', 'spark-class'), `org.apache.spark.deploy.${name}.${programs[name]}`],
        ...['--host', '127.0.0.1', '--webui-port', '0', ...args],
      ],
      logFile: join(folder, `${name}.log`),
      stopSteps: [{ signal: 'SIGTERM', timeoutMs: 20_000 }],
    });
  const servers = [await start('master', ['--port', String(port)])];
  onTestFinished(async () => {
    for (const server of servers.reverse()) await server.stop();
  });
  servers.push(await start('worker', ['--cores', '2', '--memory', '3g', `spark://127.0.0.1:${port}`]));
  const logs = async (): Promise<string> =>
    (await Promise.all(logFiles.map((file) => readFile(file, 'utf8')))).join('\n');
  await eventually(async () => {
    if (!(await logs()).includes('Successfully registered with master'))
      throw new Error(`no worker has registered: ${await logs()}`);
    return 'registered';
  }, 60);
  return logs;
}
