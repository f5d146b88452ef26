import type { Sandbox } from '../../sandbox/start-sandbox.ts';

/** The configuration of a Daybook process that has the sandbox as its service and listens on any free port. */
export function buildProcessEnvironment(
  servers: {
    readonly databaseUrl: string;
    readonly temporalAddress: string;
    readonly namespace: string;
    readonly folder: string;
  },
  {
    sandbox,
    secretKey,
    clientSecret = 'sandbox-secret',
  }: { sandbox: Sandbox; secretKey: Buffer; clientSecret?: string },
): Record<string, string> {
  return {
    DATABASE_URL: servers.databaseUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    TEMPORAL_NAMESPACE: servers.namespace,
    DAYBOOK_API_URL: sandbox.url,
    DAYBOOK_CLIENT_ID: 'sandbox-client',
    DAYBOOK_CLIENT_SECRET: clientSecret,
    DAYBOOK_SECRET_KEY: secretKey.toString('base64'),
    DAYBOOK_HOME: servers.folder,
    DAYBOOK_HTTP_PORT: '0',
  };
}
