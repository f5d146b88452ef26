import { join } from 'node:path';
import type { EmbeddedServer } from '../../embedded/keep-running.ts';
import { freePort } from '../../embedded/free-port.ts';
import { startServerProcess } from '../../embedded/server-process.ts';
import { answerOnDemand, type OnDemand } from './on-demand.ts';
import { pythonEnvironment } from './python-environment.ts';

/** One moto for the whole test run, because its start costs as much as many tests. Answers with its endpoint; test files make their own buckets. */
export async function s3OnDemand(folder: string): Promise<OnDemand> {
  let starting: Promise<{ endpoint: string; server: EmbeddedServer }> | undefined;
  const { url, stop } = await answerOnDemand(async () => {
    starting ??= startMoto(folder);
    return (await starting).endpoint;
  });
  return {
    url,
    stop: async () => {
      stop();
      await (await starting?.catch(() => undefined))?.server.stop();
    },
  };
}

async function startMoto(folder: string): Promise<{ endpoint: string; server: EmbeddedServer }> {
  const port = await freePort();
  const server = await startServerProcess({
    name: 'The S3 server',
    command: join(await pythonEnvironment(), 'bin', 'moto_server'),
    args: ['--host', '127.0.0.1', '--port', String(port)],
    logFile: join(folder, 's3.log'),
    stopSteps: [
      { signal: 'SIGTERM', timeoutMs: 5_000 },
      { signal: 'SIGKILL', timeoutMs: 30_000 },
    ],
  });
  return { endpoint: `http://127.0.0.1:${port}`, server };
}
