import { makeTelemetryFilterString, Runtime, type Logger as TemporalLogger } from '@temporalio/worker';
import type { Logger } from 'pino';

/** Installs Temporal's runtime once per process: its logs go through ours, its metrics to a port of the loopback. */
export function installTemporalRuntime(logger: Logger, input: { metricsPort: number }): void {
  Runtime.install({
    logger: forwardTo(logger),
    // Who started the process decides when it stops: workers are drained before their servers go.
    shutdownSignals: [],
    telemetryOptions: {
      metrics: { prometheus: { bindAddress: `127.0.0.1:${input.metricsPort}` } },
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
    },
  });
}

function forwardTo(logger: Logger): TemporalLogger {
  const temporal = logger.child({ from: 'temporal' });
  const at =
    (level: 'trace' | 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, meta?: object): void => {
      temporal[level](meta ?? {}, message);
    };
  return {
    trace: at('trace'),
    debug: at('debug'),
    // What the SDK says at "info" is about its own insides.
    info: at('debug'),
    warn: (message, meta) => {
      // The queue for paging has activities only, as it is meant to.
      temporal[message.startsWith('No workflows registered') ? 'debug' : 'warn'](meta ?? {}, message);
    },
    error: at('error'),
    log(level, message, meta) {
      temporal[level.toLowerCase() as 'info'](meta ?? {}, message);
    },
  };
}
