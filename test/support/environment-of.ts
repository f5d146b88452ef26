import type { Sandbox } from '../../sandbox/start-sandbox.ts';

/** The configuration of a Daybook process that has the sandbox as its service and listens on any free port. */
export function environmentOf(
  place: {
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
    DATABASE_URL: place.databaseUrl,
    TEMPORAL_ADDRESS: place.temporalAddress,
    TEMPORAL_NAMESPACE: place.namespace,
    DAYBOOK_API_URL: sandbox.url,
    DAYBOOK_CLIENT_ID: 'sandbox-client',
    DAYBOOK_CLIENT_SECRET: clientSecret,
    DAYBOOK_SECRET_KEY: secretKey.toString('base64'),
    DAYBOOK_HOME: place.folder,
    DAYBOOK_HTTP_PORT: '0',
  };
}
