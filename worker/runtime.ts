import {
  makeTelemetryFilterString,
  Runtime,
  type Logger as TemporalLogger,
  type LogLevel,
} from '@temporalio/worker';
import type { Logger } from 'pino';

/** Installs Temporal's runtime once per process. Its logs go through our logger, its metrics to a loopback port. */
export function installTemporalRuntime(logger: Logger, input: { metricsPort: number }): void {
  Runtime.install({
    logger: forwardTo(logger),
    // The process itself decides when to stop: workers are drained before their servers stop.
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
  // The paging queue is meant to have activities only, and a failed activity is logged where it fails.
  if (message.startsWith('No workflows registered') || message === 'Activity failed') return 'debug';
  // The SDK's "info" messages are about its internals.
  return ({ TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const)[level];
}
