import type { Client } from '@temporalio/client';
import { startSandbox, type Sandbox } from '../../sandbox/start-sandbox.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { checkSecretKey } from '../../warehouse/secrets/check-secret-key.ts';
import { createSandboxAdmin, type SandboxAdmin } from '../support/sandbox-admin.ts';
import { startWorkers, type Workers } from './workers.ts';

/** Where a day takes place: an empty warehouse, and a Temporal namespace of its own. */
export interface Place {
  readonly databaseUrl: string;
  readonly warehouse: Warehouse;
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly client: Client;
  /** A folder of its own, where the workers run. */
  readonly folder: string;
}

export interface Company extends Place {
  readonly sandbox: Sandbox;
  readonly admin: SandboxAdmin;
  readonly workers: Workers;
  /** What a process of Daybook is configured with. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * One with deletion events for most resources; one without subscriptions, with events for all it has; one whose deletions
 * leave no event.
 */
export const connections = ['acme-us', 'acme-eu', 'acme-uk'] as const;

export const workersOfDay = 2;

/** Less than the service allows, so that the budget has to hold something back. */
export const requestsPer10s = 200;

/** The connections of the sandbox in the warehouse, and workers that may be killed. */
export async function openCompany(
  place: Place,
  { seed, records }: { seed: number; records: number },
): Promise<Company> {
  const sandbox = await startSandbox({ seed, records });
  try {
    const secretKey = Buffer.alloc(32, 'k');
    await checkSecretKey(place.warehouse, secretKey);
    for (const connectionId of connections) {
      await addConnection(place.warehouse, secretKey, {
        connectionId,
        apiAddress: sandbox.url,
        token: `sandbox-token-${connectionId}`,
        expandPlatformData: false,
      });
    }
    const env = {
      DATABASE_URL: place.databaseUrl,
      TEMPORAL_ADDRESS: place.temporalAddress,
      TEMPORAL_NAMESPACE: place.namespace,
      DAYBOOK_API_URL: sandbox.url,
      DAYBOOK_CLIENT_ID: 'sandbox-client',
      DAYBOOK_CLIENT_SECRET: 'sandbox-secret',
      DAYBOOK_API_REQUESTS_PER_10S: String(requestsPer10s),
      DAYBOOK_SECRET_KEY: secretKey.toString('base64'),
      DAYBOOK_HOME: place.folder,
      DAYBOOK_HTTP_PORT: '0',
      // A day of minutes: what takes ten minutes otherwise takes seconds, or nothing would ever be given up or left out.
      DAYBOOK_LOOKBACK: '10s',
      DAYBOOK_GIVE_UP_AFTER: '15s',
      DAYBOOK_LOG_LEVEL: 'error',
    };
    const workers = await startWorkers(workersOfDay, { env, cwd: place.folder });
    return { ...place, sandbox, admin: createSandboxAdmin(sandbox.adminUrl), workers, env };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}
