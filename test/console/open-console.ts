import { pino } from 'pino';
import { afterAll } from 'vitest';
import { startHttpServer } from '../../server/start-http-server.ts';
import { completeSettings } from '../../cli/settings.ts';
import { parseConfig } from '../../config/parse-config.ts';
import type { Settings } from '../../config/settings.ts';
import type { Installation } from '../support/installation.ts';

/** Opens the console for the warehouse and Temporal of an installation, until the end of the test file. Returns its address. */
export async function openConsole(
  { env, warehouse, client }: Pick<Installation, 'env' | 'warehouse' | 'client'>,
  more: Partial<Settings> = {},
): Promise<string> {
  const settings = { ...settingsOf(env), ...more };
  const logger = pino({ level: 'silent' });
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    portIsDefault: false,
    logger,
    readiness: {},
    metrics: () => Promise.resolve(''),
    console: { settings, warehouse, temporal: client, logger },
  });
  afterAll(() => server.close());
  return server.url;
}

export function settingsOf(env: Readonly<Record<string, string>>): Settings {
  const config = parseConfig(env);
  const settings = completeSettings(config, {
    database: undefined,
    temporal: undefined,
    sandbox: undefined,
    secretKey: () => Promise.resolve(config.secretKey ?? Buffer.alloc(0)),
  });
  return { ...settings, temporal: { ...settings.temporal, ui: 'http://temporal.example' } };
}
