import { homedir } from 'node:os';
import { join } from 'node:path';
import { readRuntimeFile, type RuntimeFacts } from '../embedded/runtime-file.ts';
import { openHome } from '../embedded/home.ts';
import { parseConfig, type Config } from '../config/parse-config.ts';
import { readEnv, type Env } from '../config/read-env.ts';
import { requiringScram } from '../warehouse/session/require-auth.ts';
import type { SecretKey } from '../warehouse/secrets/secret-key.ts';
import type { Settings } from '../config/settings.ts';
import { NotRunning, UsageError } from './errors.ts';
import { productVersion } from './product-version.ts';
import { secretKeyOf } from './secret-key-of.ts';

/** Throws ConfigurationError. */
export function readConfig(): Config {
  return parseConfig(readEnv());
}

export type Need = 'database' | 'temporal' | 'api';

/**
 * Reads the configuration, completed by what the `daybook up` on this home provides. Throws NotRunning if something that the command needs
 * is neither configured nor provided, or UsageError if an `up` is running.
 */
export async function readSettings(needs: readonly Need[], config: Config = readConfig()): Promise<Settings> {
  const home = await openHome(config.home);
  const runtime = await readRuntimeFile(home);
  const sandbox = findSandbox(config, runtime);
  const missing = listMissing(config, { runtime, sandbox }).filter(({ need }) => needs.includes(need));
  // An `up` always provides the database and Temporal, so only the API can be missing.
  if (missing.length > 0 && runtime !== undefined) throw new UsageError(apiMissing(config.home, runtime));
  if (missing.length > 0)
    throw new NotRunning(config.home, missing.map(({ variable }) => variable).join(' and '));
  return completeSettings(config, {
    database: runtime?.database,
    temporal: runtime?.temporal,
    sandbox,
    secretKey: secretKeyOf(config, home),
  });
}

/** The sandbox of an `up` serves only the database of that `up`: the embedded one, or with `--sandbox` another one. */
function findSandbox(config: Config, runtime: RuntimeFacts | undefined): RuntimeFacts['sandbox'] {
  const { url = runtime?.database.url } = config.database;
  return url === runtime?.database.url ? runtime?.sandbox : undefined;
}

function apiMissing(home: string, { sandbox }: RuntimeFacts): string {
  return sandbox === undefined
    ? `DAYBOOK_API_URL is not set, and the "daybook up" on ${home} runs without a sandbox: set it as it is set there.`
    : `DATABASE_URL is set and DAYBOOK_API_URL is not: the sandbox of the "daybook up" on ${home} is for the database of that one ` +
        'alone. Set DAYBOOK_API_URL to the service.';
}

/** Like readSettings, for production processes: a missing setting is a mistake in the configuration. Throws UsageError. */
export async function readServiceSettings(needs: readonly Need[]): Promise<Settings> {
  try {
    return await readSettings(needs);
  } catch (error) {
    throw error instanceof NotRunning ? new UsageError(error.message) : error;
  }
}

export interface Provided {
  readonly database: RuntimeFacts['database'] | undefined;
  readonly temporal: RuntimeFacts['temporal'] | undefined;
  readonly sandbox:
    Pick<NonNullable<RuntimeFacts['sandbox']>, 'url' | 'clientId' | 'clientSecret'> | undefined;
  readonly secretKey: SecretKey;
}

/** Configured values take precedence over provided ones. */
export function completeSettings(config: Config, provided: Provided): Settings {
  const { sandbox } = provided;
  const api =
    config.api.url === undefined
      ? {
          address: 'sandbox',
          url: sandbox?.url ?? '',
          clientId: sandbox?.clientId,
          clientSecret: sandbox?.clientSecret,
        }
      : { address: config.api.url, ...config.api, url: config.api.url };
  const { temporal } = provided;
  const databaseUrl = config.database.url ?? providedUrl(provided);
  return {
    database: {
      url: databaseUrl,
      directUrl: config.database.directUrl ?? databaseUrl,
      connections: config.database.connections,
    },
    temporal: {
      ...(config.temporal ?? { namespace: 'default', connection: { address: temporal?.address ?? '' } }),
      ui: config.temporal === undefined ? temporal?.ui : undefined,
    },
    api: {
      address: api.address,
      url: api.url,
      clientId: api.clientId ?? '',
      clientSecret: api.clientSecret ?? '',
      version: config.api.version,
      requestsPer10s: config.api.requestsPer10s,
    },
    secretKey: provided.secretKey,
    policies: config.policies,
    lake: config.lake,
    marts: martsSettings(config, readEnv()),
    http: config.http,
    consolePassword: config.consolePassword,
    alertUrl: config.alertUrl,
    productVersion: productVersion(),
    logLevel: config.logLevel ?? 'info',
  };
}

/** The embedded Postgres proves its identity. Whether another one can is known to its operator. */
function providedUrl({ database }: Provided): string {
  if (database === undefined) return '';
  return database.isEmbedded ? requiringScram(database.url) : database.url;
}

function martsSettings(
  { home, reportingTimezone, sparkMaster }: Config,
  environment: Env,
): Settings['marts'] {
  const caches = environment.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return {
    home,
    cacheFolder: join(caches, 'daybook'),
    environment,
    timeZone: reportingTimezone,
    sparkMaster,
  };
}

function listMissing(
  config: Config,
  { runtime, sandbox }: { runtime: RuntimeFacts | undefined; sandbox: RuntimeFacts['sandbox'] },
): { need: Need; variable: string }[] {
  const missing: { need: Need; variable: string; there: boolean }[] = [
    { need: 'database', variable: 'DATABASE_URL', there: (config.database.url ?? runtime) !== undefined },
    { need: 'temporal', variable: 'TEMPORAL_ADDRESS', there: (config.temporal ?? runtime) !== undefined },
    { need: 'api', variable: 'DAYBOOK_API_URL', there: (config.api.url ?? sandbox) !== undefined },
  ];
  return missing.filter(({ there }) => !there);
}
