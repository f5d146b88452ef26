import { z } from 'zod';
import { parseKeepRule } from '../../lake/keep-rule.ts';
import { parseDuration } from './duration.ts';

const duration = z.string().transform((text, context) => {
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined) return milliseconds;
  context.addIssue({ code: 'custom', message: 'must be a duration like 30s, 10m, 2h or 7d' });
  return z.NEVER;
});

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
    (text) => /^https?:$/.test(urlOf(text)?.protocol ?? ''),
    'must be a URL that starts with http:// or https://',
  );

/** Every variable of Daybook's own, with its check and its default. An empty variable counts as not set. */
export const variables = {
  DAYBOOK_API_URL: webAddress
    .refine(isShowable, 'must be an address without user, password and query')
    .transform((text) => text.replace(/\/+$/, ''))
    .optional(),
  DAYBOOK_CLIENT_ID: z.string().optional(),
  DAYBOOK_CLIENT_SECRET: z.string().optional(),
  DAYBOOK_API_VERSION: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a version like 2023-03-14')
    .default('2023-03-14'),
  DAYBOOK_API_REQUESTS_PER_10S: wholeNumber(1, 1_000_000).default(450),
  DATABASE_URL: z
    .string()
    .refine(
      (text) => /^postgres(ql)?:\/\//i.test(text) && URL.canParse(text),
      'must be a URL that starts with postgres://',
    )
    .optional(),
  DAYBOOK_HOME: z.string().default('.daybook'),
  DAYBOOK_LAKE: z
    .string()
    .refine(
      (text) => !/^[a-z0-9]+:\/\//i.test(text) || /^s3:\/\/[a-z0-9.-]+(\/.*)?$/.test(text),
      'must be a folder, or an address like s3://bucket/prefix',
    )
    .optional(),
  DAYBOOK_SECRET_KEY: z
    .string()
    .refine(
      (text) => /^[A-Za-z0-9+/]{43}=$/.test(text),
      'must be 32 bytes in base64; make one with: openssl rand -base64 32',
    )
    .transform((text) => Buffer.from(text, 'base64'))
    .optional(),
  DAYBOOK_DATABASE_CONNECTIONS: wholeNumber(2, 1_000).default(10),
  DAYBOOK_CONSOLE_PASSWORD: z.string().min(12, 'must have at least 12 characters').optional(),
  DAYBOOK_KEEP_RUNS: duration.default(90 * 86_400_000),
  DAYBOOK_KEEP_HISTORY: z
    .union([z.literal('forever'), duration], 'must be "forever" or a duration like 365d')
    .default('forever'),
  DAYBOOK_KEEP_SNAPSHOTS: keepRule.default({ last: 7, daily: 30, monthEnds: true }),
  DAYBOOK_REPORTING_TIMEZONE: z
    .string()
    .refine(isTimeZone, 'must be a time zone like Europe/Berlin or UTC')
    .default('UTC'),
  DAYBOOK_HTTP_PORT: wholeNumber(0, 65_535).optional(),
  DAYBOOK_HTTP_HOST: z.string().default('127.0.0.1'),
  DAYBOOK_LOOKBACK: duration.default(600_000),
  DAYBOOK_DELETE_LIMIT: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?|\.\d+)$/, 'must be a share from 0 to 1')
    .transform(Number)
    .default(0.2),
  DAYBOOK_ALERT_URL: webAddress.optional(),
  DAYBOOK_ALLOW_HTTP: z.enum(['true', 'false'], 'must be true or false').default('false'),
  DAYBOOK_GIVE_UP_AFTER: duration.default(600_000),
  DAYBOOK_TEMPORAL_CLI: z.string().optional(),
  DAYBOOK_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'], 'must be debug, info, warn, error or silent')
    .optional(),
} satisfies Record<string, z.ZodType>;

function urlOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** It is stored and shown with each connection; credentials have variables of their own. */
function isShowable(text: string): boolean {
  const { username, password, search, hash } = urlOf(text) ?? {};
  return [username, password, search, hash].every((part) => part === undefined || part === '');
}

function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    // The only way Intl has to say that it does not know the zone.
    return false;
  }
}
