import { isIPv6 } from 'node:net';
import { openHome, type Home } from '../embedded/home.ts';
import { removeRuntimeFile, writeRuntimeFile, type RuntimeFacts } from '../embedded/runtime-file.ts';
import type { SandboxOptions } from '../embedded/sandbox.ts';
import { startEmbedded, type EmbeddedServers, type EmbeddedStep } from '../embedded/start-embedded.ts';
import { inOrder } from '../errors/in-order.ts';
import { migrate } from '../warehouse/schema/migrate.ts';
import { openWarehouse } from '../warehouse/open-warehouse.ts';
import { refuseOtherKey } from '../warehouse/secrets/check-secret-key.ts';
import { composeWorker } from '../worker/compose.ts';
import type { Config } from '../config/parse-config.ts';
import type { Settings } from '../config/settings.ts';
import { describeMigrations } from './describe-migrations.ts';
import { UsageError } from './errors.ts';
import { prepareProcess } from './prepare-process.ts';
import { secretKeyOf } from './secret-key-of.ts';
import { serveHttp } from './serve-http.ts';
import { completeSettings } from './settings.ts';

export interface UpOptions {
  /** Allows sandbox data in an external database. */
  readonly sandbox: boolean;
  /** Replaces another owner of the Temporal namespace. */
  readonly takeOver: boolean;
  readonly sandboxOptions: SandboxOptions;
  readonly onStep: (text: string) => void;
}

export interface RunningUp {
  readonly settings: Settings;
  readonly sandbox: RuntimeFacts['sandbox'];
  readonly httpUrl: string;
  /** Rejects if the worker failed by itself, or if another warehouse took over the namespace. */
  readonly failed: Promise<void>;
  /** Stops everything in reverse order of starting, continuing after a step that fails. Rejects with the first failure. */
  stop(): Promise<void>;
}

/** Starts every service that is not configured, migrates the warehouse to this release, and runs a worker and the HTTP server. */
export async function startUp(config: Config, options: UpOptions): Promise<RunningUp> {
  const wantsSandbox = config.api.url === undefined;
  if (wantsSandbox && config.database.url !== undefined && !options.sandbox) {
    throw new UsageError(
      'DATABASE_URL is set and DAYBOOK_API_URL is not: set DAYBOOK_API_URL to the service, or run "up --sandbox" to put sandbox data into that database.',
    );
  }
  const home = await openHome(config.home);
  const stops: (() => Promise<void>)[] = [];
  const stop = (): Promise<void> => inOrder(stops.splice(0).reverse());
  try {
    const embedded = await startEmbedded({
      home,
      postgres: config.database.url === undefined,
      temporal: config.temporal === undefined,
      sandbox: wantsSandbox
        ? { asOf: yesterday(), webhookHosts: [hostInUrl(config.http.host)], ...options.sandboxOptions }
        : false,
      httpPort: config.http.port,
      onStep: (step) => {
        options.onStep(inWords(step));
      },
    });
    stops.push(() => embedded.stop());
    const settings = buildSettings(config, home, embedded);
    const facts = buildRuntimeFacts(settings, embedded);
    await writeRuntimeFile(home, facts);
    stops.push(() => removeRuntimeFile(home));
    if (wantsSandbox && (config.api.clientId ?? config.api.clientSecret) !== undefined)
      options.onStep(
        'DAYBOOK_CLIENT_ID and DAYBOOK_CLIENT_SECRET are not used without DAYBOOK_API_URL: the sandbox has its own',
      );
    await migrateTo(settings, options.onStep);
    const { logger, metricsPort } = await prepareProcess(config.logLevel ?? 'warn');
    const composed = await composeWorker(settings, logger, {
      takeOver: options.takeOver,
      ownServer: config.temporal === undefined,
      say: options.onStep,
    });
    const { worker, done, warehouse, client } = composed;
    stops.push(() => composed.stop());
    const http = await serveHttp({ settings, warehouse, client, logger, metricsPort, worker });
    stops.push(() => http.close());
    await embedded.sendWebhooksTo?.(`${http.url}/webhooks`);
    await writeRuntimeFile(home, { ...facts, http: { url: http.url } });
    options.onStep('worker ready');
    return { settings, sandbox: embedded.sandbox, httpUrl: http.url, failed: done, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function buildSettings(config: Config, home: Home, embedded: EmbeddedServers): Settings {
  return completeSettings(config, {
    database: embedded.postgres && { url: embedded.postgres.url, isEmbedded: true },
    temporal: embedded.temporal,
    sandbox: embedded.sandbox,
    secretKey: secretKeyOf(config, home),
  });
}

function hostInUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** A new sandbox has books up to yesterday: some bills are due soon, and this month has spend. */
function yesterday(): string {
  return new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
}

function buildRuntimeFacts(settings: Settings, { postgres, sandbox }: EmbeddedServers): RuntimeFacts {
  const { connection, ui } = settings.temporal;
  return {
    startedAt: new Date().toISOString(),
    database: { url: postgres?.url ?? settings.database.url, isEmbedded: postgres !== undefined },
    temporal: { address: connection.address ?? '', ...(ui === undefined ? {} : { ui }) },
    ...(sandbox === undefined ? {} : { sandbox }),
  };
}

async function migrateTo(settings: Settings, onStep: (text: string) => void): Promise<void> {
  const warehouse = openWarehouse({ url: settings.database.directUrl, connections: 2 });
  try {
    await refuseOtherKey(warehouse, settings.secretKey);
    const { applied, readerSql } = await migrate(warehouse, onStep);
    onStep(
      applied.length === 0 ? 'warehouse is up to date' : `warehouse migrated: ${describeMigrations(applied)}`,
    );
    if (readerSql !== null)
      onStep(`This user may not create the role for readers. Have an administrator run:\n${readerSql}`);
  } finally {
    await warehouse.close();
  }
}

function inWords({ server, state, detail }: EmbeddedStep): string {
  return `${server} ${state}${detail === '' ? '' : ` (${detail})`}`;
}
