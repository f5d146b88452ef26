import * as z from 'zod';
import { parseKeepRule } from '../lake/snapshots/keep-rule.ts';
import { parseDuration } from './duration.ts';
import { unreadableFiles } from './unreadable-files.ts';

const duration = z.string().transform((text, context) => {
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined && milliseconds <= longest) return milliseconds;
  const message =
    milliseconds === undefined
      ? 'must be a duration like 30s, 10m, 2h or 7d'
      : `must be ${longest / 86_400_000}d at most`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

/** A thousand years: Postgres times do not go back much further. */
const longest = 365_000 * 86_400_000;

const keepRule = z.string().transform((text, context) => {
  const rule = parseKeepRule(text);
  if (rule !== undefined) return rule;
  context.addIssue({ code: 'custom', message: 'must be a rule like 7 last, 30 daily, month-ends' });
  return z.NEVER;
});

const wholeNumber = (minimum: number, maximum: number): z.ZodType<number> =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${minimum} to ${maximum}`)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be from ${minimum} to ${maximum}`);

const webAddress = z
  .string()
  .refine(
    (text) => /^https?:$/.test(parseUrl(text)?.protocol ?? ''),
    'must be a URL that starts with http:// or https://',
  );

const databaseAddress = z
  .string()
  .refine(
    (text) => /^postgres(ql)?:\/\//i.test(text) && URL.canParse(text),
    'must be a URL that starts with postgres://',
  )
  .superRefine((text, context) => {
    for (const file of unreadableFiles(text)) {
      const message = `names a file that cannot be read, ${file}: correct the path, or let this user read the file`;
      context.addIssue({ code: 'custom', message });
    }
  });

/**
 * Every variable of Daybook: its check, its default as a user would write it, and its meaning. `docs/reference.md` is generated from them. An
 * empty variable counts as not set.
 */
export const variables = {
  DAYBOOK_API_URL: webAddress
    .refine(isShowable, 'must be an address without user, password and query')
    .transform((text) => text.replace(/\/+$/, ''))
    .optional()
    .describe('Base URL of the finance API, in production with `/versioned`. Not set: the embedded sandbox'),
  DAYBOOK_CLIENT_ID: z
    .string()
    .optional()
    .describe('Client ID of the organization. Without `DAYBOOK_API_URL`, the sandbox’s is used'),
  DAYBOOK_CLIENT_SECRET: z
    .string()
    .optional()
    .describe('Client secret of the organization. Without `DAYBOOK_API_URL`, the sandbox’s is used'),
  DAYBOOK_API_VERSION: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a version like 2023-03-14')
    .prefault('2023-03-14')
    .describe(
      'The `X-Service-Version` that is requested. With `2023-02-07`, whose bills have other fields, every bill is quarantined',
    ),
  DAYBOOK_API_REQUESTS_PER_10S: wholeNumber(1, 1_000_000)
    .prefault('450')
    .describe('Request budget that all workers of the organization share'),
  DATABASE_URL: databaseAddress
    .optional()
    .describe(
      'Postgres 15 or newer: a UTF-8 database that holds nothing else. Not set: an embedded Postgres',
    ),
  DAYBOOK_HOME: z
    .string()
    .prefault('.daybook')
    .describe('Folder of embedded servers’ data, logs, the secret key, the default lake and seeds'),
  DAYBOOK_LAKE: z
    .string()
    .refine(
      (text) => !/^[a-z0-9]+:\/\//i.test(text) || /^s3:\/\/[a-z0-9.-]+(\/.*)?$/.test(text),
      'must be a folder, or an address like s3://bucket/prefix',
    )
    .optional()
    .describe('Where snapshots go: a folder, or `s3://bucket/prefix`. Not set: `lake` in `DAYBOOK_HOME`'),
  DAYBOOK_LAKE_FORMAT: z
    .enum(['parquet', 'iceberg'], 'must be parquet or iceberg')
    .prefault('parquet')
    .describe(
      '`iceberg`: Iceberg tables show every snapshot and its marts too; their catalog is in Postgres',
    ),
  DAYBOOK_SECRET_KEY: z
    .string()
    .refine(
      (text) => /^[A-Za-z0-9+/]{43}=$/.test(text),
      'must be 32 bytes in base64; make one with: openssl rand -base64 32',
    )
    .transform((text) => Buffer.from(text, 'base64'))
    .optional()
    .describe(
      '32 bytes in base64 that encrypt access tokens at rest. Not set: made in `DAYBOOK_HOME` with an embedded Postgres; required otherwise',
    ),
  DAYBOOK_DATABASE_CONNECTIONS: wholeNumber(2, 1_000)
    .prefault('10')
    .describe(
      'Postgres connections of each process, exports and builds of marts included. Below 5, a process that exports and builds takes up to three more',
    ),
  DAYBOOK_DATABASE_DIRECT_URL: databaseAddress
    .optional()
    .describe(
      'Where `DATABASE_URL` leads to a pooler: the server itself, for migrations, exports, builds and readers. Not set: `DATABASE_URL`',
    ),
  DAYBOOK_CONSOLE_PASSWORD: z
    .string()
    .min(12, 'must have at least 12 characters')
    .optional()
    .describe('Password of the console; required when the HTTP server listens beyond loopback'),
  DAYBOOK_KEEP_RUNS: duration
    .prefault('90d')
    .describe('How long runs, closed entries, finished webhooks and alerts that are over are kept'),
  DAYBOOK_KEEP_QUIET_RUNS: duration
    .refine((milliseconds) => milliseconds >= 86_400_000, 'must be 1d or more')
    .optional()
    .describe(
      'How long runs of syncs are kept that found nothing new; then they are one count for each day. Not set: as `DAYBOOK_KEEP_RUNS`',
    ),
  DAYBOOK_KEEP_HISTORY: z
    .union([z.literal('forever'), duration], 'must be "forever" or a duration like 365d')
    .prefault('forever')
    .describe('How long replaced versions of a record are kept'),
  DAYBOOK_KEEP_SNAPSHOTS: keepRule
    .prefault('7 last, 30 daily, month-ends')
    .describe('Which snapshots are kept'),
  DAYBOOK_REPORTING_TIMEZONE: z
    .string()
    .refine(isTimeZone, 'must be a time zone like Europe/Berlin or UTC')
    .prefault('UTC')
    .describe('Time zone whose "today" the marts use'),
  DAYBOOK_SPARK_MASTER: z
    .string()
    .regex(
      /^(local(\[(\*|\d+)\])?$|yarn$|spark:\/\/|k8s:\/\/)/,
      'must be local[*], spark://host:7077, yarn, or k8s://…',
    )
    .prefault('local[*]')
    .describe(
      'What runs `dbt build --target spark`: this machine, or a cluster that `spark-defaults.conf` in `SPARK_CONF_DIR` describes',
    ),
  DAYBOOK_HTTP_PORT: wholeNumber(0, 65_535)
    .optional()
    .describe(
      'Port of the console, dashboard, webhooks, health checks and metrics. Not set: 8390, or the next free port',
    ),
  DAYBOOK_HTTP_HOST: z.string().prefault('127.0.0.1').describe('Address that the HTTP server listens on'),
  DAYBOOK_LOOKBACK: duration.prefault('10m').describe('How far before the watermark a sync starts again'),
  DAYBOOK_DELETE_LIMIT: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?|\.\d+)$/, 'must be a share from 0 to 1')
    .transform(Number)
    .prefault('0.2')
    .describe(
      'A reconcile that would delete more than this share of a resource, and more than 50 records, asks first; so does one that would delete all of several records',
    ),
  DAYBOOK_ALERT_URL: webAddress
    .refine(hasReadableLogin, 'must be a URL whose user and password are percent-encoded: a % itself is %25')
    .refine(isOnOpenPort, 'must be an address on another port: fetch blocks this one, as browsers do')
    .optional()
    .describe('Receives a JSON message with a `text` for Slack when an alert opens, and when it closes'),
  DAYBOOK_ALLOW_HTTP: z
    .enum(['true', 'false'], 'must be true or false')
    .prefault('false')
    .describe(
      '`true` permits `http://` beyond loopback for `DAYBOOK_API_URL` and `DAYBOOK_ALERT_URL`, where secrets can be read in transit',
    ),
  DAYBOOK_GIVE_UP_AFTER: duration
    .prefault('10m')
    .describe('How long a stream whose requests keep failing is retried within one run'),
  DAYBOOK_TEMPORAL_CLI: z
    .string()
    .optional()
    .describe('Path of the Temporal CLI. Not set: found, downloaded or built'),
  DAYBOOK_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'], 'must be debug, info, warn, error or silent')
    .optional()
    .describe('`debug`, `info`, `warn`, `error` or `silent`. Not set: `info`; with `up`: `warn`'),
} satisfies Record<string, z.ZodType>;

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** The URL is stored and shown with each connection; credentials have variables of their own. */
function isShowable(text: string): boolean {
  const { username, password, search, hash } = parseUrl(text) ?? {};
  return [username, password, search, hash].every((part) => part === undefined || part === '');
}

/** A bare `%` in a password cannot be decoded. */
function hasReadableLogin(text: string): boolean {
  const { username = '', password = '' } = parseUrl(text) ?? {};
  try {
    decodeURIComponent(`${username}${password}`);
    return true;
  } catch {
    // decodeURIComponent reports failure only by throwing.
    return false;
  }
}

function isOnOpenPort(text: string): boolean {
  return !blockedPorts.has(Number(parseUrl(text)?.port ?? ''));
}

/** https://fetch.spec.whatwg.org/#port-blocking: fetch never connects to these ports, whatever the address. */
const blockedPorts: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    // Intl reports an unknown zone only by throwing.
    return false;
  }
}
