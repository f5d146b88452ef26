import { resources } from '../resources/index.ts';
import type { Resource } from '../resources/resource.ts';
import type { ApiClient } from '../source/api-client.ts';
import { isAnswer, isLimitOfService, NotSupported, RequestRefused } from '../source/errors.ts';
import { listOfOne } from '../source/lists.ts';
import type { ConnectionAccess } from '../warehouse/connections/read-access.ts';
import type { ServiceIdentity } from '../warehouse/connections/pin-identity.ts';
import { proveToken, proveTokenAlone, type TokenOfRun } from '../warehouse/connections/prove-token.ts';
import { CompanyUnnamed } from '../warehouse/errors.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { handlingOf } from './handling.ts';

/** Proves that an access token opens the company of its connection; required before data read with it is used. */
export interface CompanyProof {
  readonly of: TokenOfRun;
  /**
   * `identity`: the company that the current response names. If it names none (events never do, subscriptions may not: API document 4.5, 4.6) and
   * nothing has named the company in this run yet, a list that does is asked for a single record. If the platform has no such list, and no
   * response has ever named the company, the token alone is the proof.
   *
   * Throws IdentityChanged, IdentityInUse, CompanyUnnamed, and the errors of that list.
   */
  require(identity: ServiceIdentity | null): Promise<void>;
  /**
   * The same, but an earlier naming is not enough: if responses without a company are used to land, delete or prove something, the company must
   * have been named after they came, because a token may open another company in the middle of a run. If nothing names the company, it is
   * asked for once.
   */
  requireNow(identity: ServiceIdentity | null): Promise<void>;
}

/** The company that a token was proved to open. Passed on, it saves further requests. */
export interface NamedCompany {
  /** `before`: proved by another activity of the run; `nobody`: the token alone is the proof. */
  proved?: ServiceIdentity | 'before' | 'nobody';
}

export function createCompanyProof(
  { warehouse }: { readonly warehouse: Warehouse },
  asking: {
    readonly connectionId: string;
    readonly runId: string;
    readonly access: ConnectionAccess;
    readonly api: ApiClient;
    readonly company?: NamedCompany;
    readonly signal?: AbortSignal | undefined;
  },
): CompanyProof {
  const { connectionId, runId, access, company = {} } = asking;
  const of = { connectionId, runId, token: access.mark };
  return { of, require, requireNow };

  async function require(identity: ServiceIdentity | null): Promise<void> {
    const { proved } = company;
    if (proved !== undefined && (identity === null || isSame(identity, proved))) return;
    if (identity === null && (await proveToken(warehouse, { ...of, identity }))) company.proved = 'before';
    else await prove(identity ?? (await askForCompany(asking)));
  }

  async function requireNow(identity: ServiceIdentity | null): Promise<void> {
    if (identity !== null) await require(identity);
    else if (company.proved !== 'nobody') await prove(await askForCompany(asking));
  }

  async function prove(named: ServiceIdentity | null): Promise<void> {
    if (named === null) await proveTokenAlone(warehouse, of);
    else await proveToken(warehouse, { ...of, identity: named });
    company.proved = named ?? 'nobody';
  }
}

/**
 * Asks lists for the company. Every list names it, except that of subscriptions; a platform may lack or refuse some lists, and one that fails is no
 * reason to stop what needs the name: then the next one is asked. Null if the platform lacks all lists that name it.
 */
async function askForCompany({
  connectionId,
  access,
  api,
  signal,
}: Parameters<typeof createCompanyProof>[1]): Promise<ServiceIdentity | null> {
  const failures: Error[] = [];
  const unnamed: Resource[] = [];
  for (const resource of resources) {
    try {
      const request = { accessToken: access.token, ...listOfOne(resource), signal };
      const { connection } = await api.list(request);
      if (connection !== null) return connection;
      unnamed.push(resource);
    } catch (error) {
      if (!(error instanceof Error) || !isOfOneList(error)) throw error;
      if (!(error instanceof NotSupported)) failures.push(error);
      if (failures.filter(mayPass).length === mostFailures) break;
    }
  }
  const failure = failures.find(mayPass) ?? failures[0];
  if (failure !== undefined) throw failure;
  if (unnamed.length === 0 || unnamed.some(({ namesCompany }) => namesCompany))
    throw new CompanyUnnamed(connectionId);
  return null;
}

/** So many lists that fail mean that the service is down. */
const mostFailures = 3;

function mayPass(failure: Error): boolean {
  return handlingOf(failure) !== 'stop';
}

/** Whether another list may answer. What concerns the token, the connection or the organization concerns every list. */
function isOfOneList(error: Error): boolean {
  if (isLimitOfService(error) || !isAnswer(error)) return false;
  return mayPass(error) || error instanceof RequestRefused || error instanceof NotSupported;
}

function isSame(named: ServiceIdentity, proved: NonNullable<NamedCompany['proved']>): boolean {
  if (typeof proved === 'string') return false;
  return named.id === proved.id && named.orgId === proved.orgId && named.platform === proved.platform;
}
