import { setFlagsFromString } from 'node:v8';
import getPort from 'get-port';
import type { Logger } from 'pino';
import { createLogger } from '../worker/logging.ts';
import { installTemporalRuntime } from '../worker/runtime.ts';

/** Creates the logger and Temporal runtime of a process that runs a worker. Call it once per process. */
export async function prepareProcess(logLevel: string): Promise<{ logger: Logger; metricsPort: number }> {
  // By default V8 lets landed pages pile up to 470 MB before collecting them; this limits it to 350 MB for a sixth of the worker's CPU.
  setFlagsFromString('--heap-growing-percent=80');
  const logger = createLogger(logLevel);
  const metricsPort = await getPort({ host: '127.0.0.1' });
  installTemporalRuntime(logger, { metricsPort });
  return { logger, metricsPort };
}
