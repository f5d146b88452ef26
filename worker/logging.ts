import { pino, type Logger } from 'pino';

/** Creates the process's logger: JSON lines on stderr, since stdout is for the command. These paths make sure that no secrets are logged. */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      redact: secretNames.flatMap((name) => [name, `*.${name}`]),
    },
    // A terminal may close before the process has stopped its services. main.ts handles that error for this stream only.
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
