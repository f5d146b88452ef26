import type { Settings } from '../../config/settings.ts';
import { budgetWarning, demandInWords, silenceInWords } from '../../operations/demand-words.ts';
import { bills } from '../../resources/bills.ts';
import { resources } from '../../resources/index.ts';
import { createApiClient, type ApiClient } from '../../source/api-client.ts';
import {
  ConnectionDisabled,
  CredentialsRefused,
  NotSupported,
  ProductNotReady,
  SourceUnavailable,
} from '../../source/errors.ts';
import { listOfOne } from '../../source/lists.ts';
import { openApiBudget } from '../../warehouse/api-budget/api-budget.ts';
import { listConnections, type ConnectionListed } from '../../warehouse/connections/list-connections.ts';
import { readAccess } from '../../warehouse/connections/read-access.ts';
import { readDemand } from '../../warehouse/connections/read-demand.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { readApiSilence } from '../../warehouse/api-budget/read-api-silence.ts';
import { explain } from '../explain.ts';
import type { CheckResult } from './finding.ts';

/** With more connections, the requests would take minutes of the budget. */
const mostAsked = 20;

/**
 * Requests a list for each of up to 20 connections, within the budget. Without connections, one request with an invented access token tells
 * whether the address answers like the API.
 */
export async function checkApi(
  warehouse: Warehouse,
  { api, secretKey }: Pick<Settings, 'api' | 'secretKey'>,
): Promise<string> {
  const all = await listConnections(warehouse);
  const connections = all.filter(({ api_address }) => api_address === api.address);
  const budget = openApiBudget(warehouse, { apiAddress: api.address, ...api });
  const client = createApiClient({ ...api, baseUrl: api.url, budget });
  try {
    if (connections.length === 0)
      return `${api.url} ${await answerToInventedToken(client, api)}. ${describeUnchecked(all)}`;
    for (const { connection_id: connectionId } of connections.slice(0, mostAsked)) {
      const { token } = await readAccess(warehouse, secretKey, { connectionId, apiAddress: api.address });
      await requireAccepted(client, token).catch((error: unknown) => {
        throw new Error(`${connectionId}: ${describeFailure(error, api)}`, { cause: error });
      });
    }
  } finally {
    await client.close();
  }
  return `${api.url} accepts the credentials of ${describeCount(connections.length)}`;
}

/** Returns what the address does. Throws if it is not what the API does: refuse the token with 401 (API document 5). */
async function answerToInventedToken(client: ApiClient, api: Settings['api']): Promise<string> {
  try {
    await client.list({ accessToken: 'invented-by-daybook-doctor', ...listOfOne(bills) });
    return 'answers like the finance API';
  } catch (error) {
    if (error instanceof ProductNotReady) return 'answers like the finance API';
    if (error instanceof CredentialsRefused || error instanceof ConnectionDisabled) {
      const { status, errorCode } = error;
      return `refuses an invented access token (${status ?? ''}, ${errorCode ?? 'without an error code'}), as the finance API does`;
    }
    if (error instanceof NotSupported)
      throw new Error(
        `${api.url} does not answer like the finance API: it answers 404 to an invented access token, not 401. ${checkAddress}`,
        { cause: error },
      );
    throw new Error(describeFailure(error, api), { cause: error });
  }
}

/** A service may answer 401 before it looks at the path. */
function describeUnchecked(connections: readonly ConnectionListed[]): string {
  const why =
    connections.length === 0
      ? 'There are no connections yet'
      : `No connection was added under this address (${connections[0]?.connection_id ?? ''}: ${connections[0]?.api_address ?? ''})`;
  return `${why}, so the credentials and the path of the address are not checked`;
}

/**
 * Rejects unless a list answers, or would if its data were ready. A 404 of one list may mean that the platform does not have it (API document
 * 7); a 404 of all of them means that the address is not that of the API.
 */
async function requireAccepted(client: ApiClient, accessToken: string): Promise<void> {
  for (const resource of resources) {
    try {
      await client.list({ accessToken, ...listOfOne(resource) });
      return;
    } catch (error) {
      if (error instanceof ProductNotReady) return;
      if (!(error instanceof NotSupported)) throw error;
    }
  }
  throw new Error(`every list answers 404. ${checkAddress}`);
}

const checkAddress = 'Check DAYBOOK_API_URL, which in production ends with /versioned';

function describeFailure(error: unknown, { url }: Settings['api']): string {
  if (error instanceof SourceUnavailable && error.code !== null)
    return `${url} does not answer (${error.code}): check DAYBOOK_API_URL, and that this host reaches it`;
  return explain(error, { verbose: false });
}

function describeCount(connections: number): string {
  if (connections === 1) return '1 connection';
  if (connections <= mostAsked) return `${connections} connections`;
  return `the first ${mostAsked} of ${connections.toLocaleString('en-US')} connections; "daybook status" names those that were refused`;
}

export async function checkApiBudget(warehouse: Warehouse, { api }: Settings): Promise<CheckResult> {
  const demand = await readDemand(warehouse, api);
  const silentUntil = await readApiSilence(warehouse, api);
  const problems = [budgetWarning(demand), silenceInWords(silentUntil)].filter(
    (problem) => problem !== undefined,
  );
  return { problems, allWell: demandInWords(demand) };
}
