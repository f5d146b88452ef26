import { closest, distance } from 'fastest-levenshtein';
import path from 'node:path';
import * as z from 'zod';
import { ConfigurationError } from './configuration-error.ts';
import type { KeepRule } from '../lake/snapshots/keep-rule.ts';
import { isBucket } from '../lake/location.ts';
import type { Policies } from '../warehouse/policies.ts';
import { isLoopback, withoutBrackets } from './is-loopback.ts';
import type { Env } from './read-env.ts';
import { temporalFromEnv, type TemporalSettings } from './temporal-settings.ts';
import { variables } from './variables.ts';

/** The configuration as set; `daybook up` provides missing values. Times are in milliseconds. */
export interface Config {
  readonly api: {
    /** Undefined: the embedded sandbox. */
    readonly url: string | undefined;
    readonly clientId: string | undefined;
    readonly clientSecret: string | undefined;
    readonly version: string;
    readonly requestsPer10s: number;
  };
  /** Without a `url`: the embedded Postgres. */
  readonly database: {
    readonly url: string | undefined;
    /** Undefined: the same as `url`. */
    readonly directUrl: string | undefined;
    readonly connections: number;
  };
  /** Undefined: the embedded development server. */
  readonly temporal: TemporalSettings | undefined;
  /** Absolute. */
  readonly home: string;
  readonly secretKey: Buffer | undefined;
  readonly policies: Policies;
  readonly lake: {
    /** An absolute folder, or `s3://bucket/prefix`. */
    readonly location: string;
    /** The folder where files are written before they are moved to `location`. */
    readonly scratch: string;
    readonly keep: KeepRule;
    /** `iceberg`: Iceberg tables show the Parquet snapshots too. */
    readonly format: 'parquet' | 'iceberg';
  };
  /** The time zone that decides which day is today in the marts. */
  readonly reportingTimezone: string;
  readonly sparkMaster: string;
  readonly http: { readonly host: string; readonly port: number; readonly portIsDefault: boolean };
  /** Undefined: the console asks for no password, which is allowed on loopback only. */
  readonly consolePassword: string | undefined;
  /** The address for alerts, a secret. Undefined: none are sent. */
  readonly alertUrl: string | undefined;
  readonly logLevel: string | undefined;
}

/** Throws ConfigurationError with all problems. */
export function parseConfig(env: Env): Config {
  const set = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = z.object(variables).safeParse(set);
  const temporal = temporalFromEnv(set);
  const problems = [
    ...unknownNames(set),
    ...(parsed.success ? [] : parsed.error.issues.map(inWords)),
    ...rulesBetween(set),
    ...temporal.problems,
  ];
  if (!parsed.success || problems.length > 0) throw new ConfigurationError(problems);
  const values = parsed.data;
  return {
    api: {
      url: values.DAYBOOK_API_URL,
      clientId: values.DAYBOOK_CLIENT_ID,
      clientSecret: values.DAYBOOK_CLIENT_SECRET,
      version: values.DAYBOOK_API_VERSION,
      requestsPer10s: values.DAYBOOK_API_REQUESTS_PER_10S,
    },
    database: {
      url: values.DATABASE_URL,
      directUrl: values.DAYBOOK_DATABASE_DIRECT_URL,
      connections: values.DAYBOOK_DATABASE_CONNECTIONS,
    },
    temporal: temporal.settings,
    home: path.resolve(values.DAYBOOK_HOME),
    secretKey: values.DAYBOOK_SECRET_KEY,
    policies: {
      lookbackMilliseconds: values.DAYBOOK_LOOKBACK,
      giveUpAfterMilliseconds: values.DAYBOOK_GIVE_UP_AFTER,
      deleteLimit: values.DAYBOOK_DELETE_LIMIT,
      keep: {
        runsMilliseconds: values.DAYBOOK_KEEP_RUNS,
        quietRunsMilliseconds: values.DAYBOOK_KEEP_QUIET_RUNS,
        historyMilliseconds: values.DAYBOOK_KEEP_HISTORY === 'forever' ? null : values.DAYBOOK_KEEP_HISTORY,
      },
    },
    lake: {
      location: lakeLocation(values),
      scratch: path.resolve(values.DAYBOOK_HOME, 'export'),
      keep: values.DAYBOOK_KEEP_SNAPSHOTS,
      format: values.DAYBOOK_LAKE_FORMAT,
    },
    reportingTimezone: values.DAYBOOK_REPORTING_TIMEZONE,
    sparkMaster: values.DAYBOOK_SPARK_MASTER,
    http: {
      host: withoutBrackets(values.DAYBOOK_HTTP_HOST),
      port: values.DAYBOOK_HTTP_PORT ?? 8390,
      portIsDefault: values.DAYBOOK_HTTP_PORT === undefined,
    },
    consolePassword: values.DAYBOOK_CONSOLE_PASSWORD,
    alertUrl: values.DAYBOOK_ALERT_URL,
    logLevel: values.DAYBOOK_LOG_LEVEL,
  };
}

function lakeLocation({
  DAYBOOK_LAKE: lake,
  DAYBOOK_HOME: home,
}: {
  DAYBOOK_LAKE?: string | undefined;
  DAYBOOK_HOME: string;
}): string {
  if (lake === undefined) return path.resolve(home, 'lake');
  return isBucket(lake) ? lake.replace(/\/+$/, '') : path.resolve(lake);
}

/** Checks variables as set, valid or not, so that these problems are reported together with the others. */
function rulesBetween(set: Env): string[] {
  const problems: string[] = [];
  const host = set.DAYBOOK_HTTP_HOST ?? '127.0.0.1';
  if (set.DATABASE_URL !== undefined && set.DAYBOOK_SECRET_KEY === undefined) {
    problems.push(
      'DAYBOOK_SECRET_KEY is required with DATABASE_URL: it encrypts the access tokens. Make one with: openssl rand -base64 32',
    );
  }
  if (set.DAYBOOK_DATABASE_DIRECT_URL !== undefined && set.DATABASE_URL === undefined) {
    problems.push(
      'DATABASE_URL is required with DAYBOOK_DATABASE_DIRECT_URL, which is another way to the same database.',
    );
  }
  if (!isLoopback(host) && set.DAYBOOK_CONSOLE_PASSWORD === undefined) {
    problems.push(`DAYBOOK_CONSOLE_PASSWORD is required when DAYBOOK_HTTP_HOST is ${host}.`);
  }
  if (set.DAYBOOK_API_URL !== undefined) {
    for (const name of ['DAYBOOK_CLIENT_ID', 'DAYBOOK_CLIENT_SECRET'] as const) {
      if (set[name] === undefined) problems.push(`${name} is required with DAYBOOK_API_URL.`);
    }
  }
  if (set.DAYBOOK_ALLOW_HTTP !== 'true') {
    for (const name of ['DAYBOOK_API_URL', 'DAYBOOK_ALERT_URL'] as const) {
      if (sendsInClear(set[name] ?? ''))
        problems.push(
          `${name} must start with https://, or secrets are sent in clear text to another machine. If that is intended, set DAYBOOK_ALLOW_HTTP=true.`,
        );
    }
  }
  return problems;
}

/** Whether data sent to an address can be read in transit. */
export function sendsInClear(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !isLoopback(hostname);
}

function unknownNames(set: Record<string, unknown>): string[] {
  return Object.keys(set)
    .filter((name) => name.startsWith('DAYBOOK_') && !(name in variables))
    .map((name) => `${name} is not a variable of Daybook.${suggestion(name)}`);
}

function suggestion(name: string): string {
  const known = closest(name, Object.keys(variables));
  return distance(name, known) <= 4 ? ` Did you mean ${known}?` : '';
}

function inWords(issue: z.core.$ZodIssue): string {
  return `${issue.path.join('.')} ${issue.message}.`;
}
