import {
  makeTelemetryFilterString,
  Runtime,
  type Logger as TemporalLogger,
  type LogLevel,
} from '@temporalio/worker';
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
  const log = (level: LogLevel, message: string, meta: object = {}): void => {
    temporal[pinoLevel(level, message)](meta, message);
  };
  const at =
    (level: LogLevel) =>
    (message: string, meta?: object): void => {
      log(level, message, meta);
    };
  return {
    log,
    trace: at('TRACE'),
    debug: at('DEBUG'),
    info: at('INFO'),
    warn: at('WARN'),
    error: at('ERROR'),
  };
}

function pinoLevel(level: LogLevel, message: string): 'trace' | 'debug' | 'warn' | 'error' {
  // The queue for paging has activities only, as it is meant to; a failed activity is logged where it fails.
  if (message.startsWith('No workflows registered') || message === 'Activity failed') return 'debug';
  // What the SDK says at "info" is about its own insides.
  return ({ TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const)[level];
}
