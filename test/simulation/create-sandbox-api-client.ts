import { createApiClient, type ApiClient } from '../../source/api-client.ts';
import { openApiBudget } from '../../warehouse/api-budget/api-budget.ts';
import { clientSecret, type Installation } from '../support/installation.ts';

/** A client of the installation's sandbox, for activities that run outside a worker. */
export function createSandboxApiClient({
  sandbox,
  warehouse,
}: Pick<Installation, 'sandbox' | 'warehouse'>): ApiClient {
  const account = { clientId: 'sandbox-client', clientSecret };
  return createApiClient({
    ...account,
    baseUrl: sandbox.url,
    version: '2023-03-14',
    budget: openApiBudget(warehouse, { ...account, apiAddress: sandbox.url, requestsPer10s: 450 }),
  });
}
