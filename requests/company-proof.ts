import { resources } from '../resources/index.ts';
import type { ApiClient } from '../source/api-client.ts';
import { NotSupported, RequestRefused } from '../source/errors.ts';
import { listOfOne } from '../source/lists.ts';
import type { ConnectionAccess } from '../warehouse/connections/read-access.ts';
import type { ServiceIdentity } from '../warehouse/connections/pin-identity.ts';
import { proveToken, type TokenOfRun } from '../warehouse/connections/prove-token.ts';
import { CompanyUnnamed } from '../warehouse/errors.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';

/** Proof that an access token opens the company of its connection: required before anything that was read with it is used. */
export interface CompanyProof {
  readonly of: TokenOfRun;
  /**
   * `identity`: what the response in hand names. Where it names nobody (events never do, subscriptions may not: API document
   * 4.5, 4.6) and nothing has named the company in this run yet, a list that does is asked for a single record.
   *
   * Throws IdentityChanged, IdentityInUse, CompanyUnnamed, and the errors of that list.
   */
  require(identity: ServiceIdentity | null): Promise<void>;
  /**
   * The same, and what was named before is not enough: for what is landed, deleted or proved by answers that name nobody, the company must
   * have been named after they came. A token may come to open another company in the middle of a run.
   */
  requireNow(identity: ServiceIdentity | null): Promise<void>;
}

/** Whom a token was found to open: what was proved once is not looked up again for as long as this is passed on. */
export interface NamedCompany {
  /** `before`: by another activity of the run. */
  proved?: ServiceIdentity | 'before';
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
    if (identity === null) await prove(await askForCompany(asking));
    else await require(identity);
  }

  async function prove(named: ServiceIdentity): Promise<void> {
    await proveToken(warehouse, { ...of, identity: named });
    company.proved = named;
  }
}

/** Any list names the company but that of subscriptions; a platform may lack some of them, or refuse them. */
async function askForCompany({
  connectionId,
  access,
  api,
  signal,
}: Parameters<typeof createCompanyProof>[1]): Promise<ServiceIdentity> {
  let refusal: Error | undefined;
  for (const resource of resources) {
    try {
      const request = { accessToken: access.token, ...listOfOne(resource), signal };
      const { connection } = await api.list(request);
      if (connection !== null) return connection;
    } catch (error) {
      if (error instanceof RequestRefused) refusal = error;
      else if (!(error instanceof NotSupported)) throw error;
    }
  }
  throw refusal ?? new CompanyUnnamed(connectionId);
}

function isSame(named: ServiceIdentity, proved: ServiceIdentity | 'before'): boolean {
  if (proved === 'before') return false;
  return named.id === proved.id && named.orgId === proved.orgId && named.platform === proved.platform;
}
