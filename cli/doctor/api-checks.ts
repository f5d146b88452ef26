import type { Settings } from '../../config/settings.ts';
import { demandInWords, demandTrouble, silenceInWords } from '../../operations/demand-words.ts';
import { bills } from '../../resources/bills.ts';
import { createApiClient } from '../../source/api-client.ts';
import { NotSupported, ProductNotReady } from '../../source/errors.ts';
import { listOfOne } from '../../source/lists.ts';
import { openApiBudget } from '../../warehouse/api-budget/api-budget.ts';
import { listConnections } from '../../warehouse/connections/list-connections.ts';
import { readAccess } from '../../warehouse/connections/read-access.ts';
import { readDemand } from '../../warehouse/connections/read-demand.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { readApiSilence } from '../../warehouse/api-budget/read-api-silence.ts';
import { explain } from '../explain.ts';
import type { CheckResult } from './finding.ts';

/** With more connections, the requests would take minutes of the budget. */
const mostAsked = 20;

/** Makes one request for each of up to 20 connections, within the budget. Without connections there is nothing to check. */
export async function checkApi(warehouse: Warehouse, settings: Settings): Promise<string> {
  const { api, secretKey } = settings;
  const connections = (await listConnections(warehouse)).filter(
    ({ api_address }) => api_address === api.address,
  );
  if (connections.length === 0) return `${api.url}, not checked: there are no connections yet`;
  const budget = openApiBudget(warehouse, { apiAddress: api.address, ...api });
  const client = createApiClient({ ...api, baseUrl: api.url, budget });
  try {
    for (const { connection_id: connectionId } of connections.slice(0, mostAsked)) {
      const { token } = await readAccess(warehouse, secretKey, { connectionId, apiAddress: api.address });
      await client.list({ accessToken: token, ...listOfOne(bills) }).catch((error: unknown) => {
        if (!areCredentialsAccepted(error))
          throw new Error(`${connectionId}: ${explain(error, { verbose: false })}`, { cause: error });
      });
    }
  } finally {
    await client.close();
  }
  return `${api.url} accepts the credentials of ${describeCount(connections.length)}`;
}

function describeCount(connections: number): string {
  if (connections === 1) return '1 connection';
  if (connections <= mostAsked) return `${connections} connections`;
  return `the first ${mostAsked} of ${connections.toLocaleString('en-US')} connections; "daybook status" names those that were refused`;
}

export async function checkApiBudget(warehouse: Warehouse, { api }: Settings): Promise<CheckResult> {
  const demand = await readDemand(warehouse, api);
  const silentUntil = await readApiSilence(warehouse, api);
  const problems = [demandTrouble(demand), silenceInWords(silentUntil)].filter(
    (trouble) => trouble !== undefined,
  );
  return { problems, allWell: demandInWords(demand) };
}

/** True if the data is not ready yet or not offered for the platform: the credentials are accepted in both cases. */
function areCredentialsAccepted(error: unknown): boolean {
  return error instanceof ProductNotReady || error instanceof NotSupported;
}
