import { pino, type Logger } from 'pino';

/** One logger per process: JSON lines on stderr, so that stdout is the command's own. Nothing secret is logged; these paths make sure. */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      redact: secretNames.flatMap((name) => [name, `*.${name}`]),
    },
    // A terminal may be closed before the process has stopped what it started. For this stream main.ts sees to that.
    process.stderr.isTTY ? process.stderr : pino.destination(2),
  );
}

const secretNames = [
  'token',
  'accessToken',
  'access_token',
  'apiKey',
  'authorization',
  'clientSecret',
  'password',
  'secret',
];
