import { statfs } from 'node:fs/promises';
import type { Client } from '@temporalio/client';
import { openHome } from '../embedded/home.ts';
import { isNothingToBuild } from '../marts/errors.ts';
import { martsNeedPython } from '../marts/python-with-dbt.ts';
import { bills } from '../resources/bills.ts';
import { createApiClient } from '../source/api-client.ts';
import { listOfOne } from '../source/lists.ts';
import { backlogInWords, backlogRemedy, isLate } from '../warehouse/alerts/backlog.ts';
import { openApiBudget } from '../warehouse/api-budget.ts';
import { listConnections } from '../warehouse/connections/list-connections.ts';
import { readApiSilence } from '../warehouse/read-api-silence.ts';
import { readDemand } from '../warehouse/connections/read-demand.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import { checkAddresses } from '../warehouse/check-addresses.ts';
import { checkSchema } from '../warehouse/migrate.ts';
import { requireClock } from '../warehouse/require-clock.ts';
import { openWarehouse, type Warehouse } from '../warehouse/open-warehouse.ts';
import { missingRoleSettings } from '../warehouse/role-settings.ts';
import { listReaders, type ReaderListed } from '../warehouse/readers/list-readers.ts';
import { readersState } from '../warehouse/readers-state.ts';
import { checkSecretKey } from '../warehouse/secrets/check-secret-key.ts';
import { demandInWords, demandTrouble, silenceInWords } from '../operations/demand-words.ts';
import { readBacklog } from '../operations/read-backlog.ts';
import { readOwnership } from '../operations/ownership/read-ownership.ts';
import { missingSearchAttributes } from '../operations/search-attributes.ts';
import type { Settings } from '../config/settings.ts';
import { mainQueue } from '../temporal/task-queues.ts';
import { connectTemporal } from '../operations/temporal-client.ts';
import { explain } from './explain.ts';
import { openToEverybody } from './open-to-everybody.ts';
import { sentInClear } from './sent-in-clear.ts';
import { readConfig, readSettings } from './settings.ts';

export interface Finding {
  what: string;
  ok: boolean;
  /** The result, and the remedy if there is a problem. */
  found: string;
  /** It works, but somebody should look at it. */
  warning?: true;
}

/** Looks at everything a sync needs, as far as each check lets the next one look. */
export async function examine(): Promise<Finding[]> {
  const findings = [await finding('Node', () => Promise.resolve(nodeVersion()))];
  const settings = await attempt(findings, 'configuration', async () => {
    const read = await readSettings(['database', 'temporal', 'api']);
    return { value: read, found: 'complete' };
  });
  findings.push(
    await finding('disk', freeDisk),
    ...(await warnings('files', closedFiles)),
    await finding('Python', pythonFor),
  );
  if (settings === undefined) return findings;
  findings.push(...(await warnings('encryption', () => encryption(settings))));
  const warehouse = openWarehouse({ ...settings.database, connections: 2 });
  try {
    findings.push(
      await finding('database', () => databaseOf(warehouse)),
      await finding('clock', () => clockOf(warehouse)),
      ...(await warnings('pooler', () => poolerOf(settings))),
      ...(await warnings('sessions', () => sessionsOf(warehouse))),
      ...(await warnings('readers', () => readersOf(warehouse))),
      await finding('secret key', async () => {
        await checkSecretKey(warehouse, await settings.secretKey());
        return 'decrypts the stored access tokens';
      }),
      ...(await temporalFindings(warehouse, settings)),
      await finding('API', () => apiOf(warehouse, settings)),
      ...(await warnings('API budget', () => demandOf(warehouse, settings))),
    );
  } finally {
    await warehouse.close();
  }
  return findings;
}

function nodeVersion(): string {
  return process.versions.node;
}

async function freeDisk(): Promise<string> {
  const home = await openHome(readConfig().home);
  const { bavail, bsize } = await statfs(home.root);
  const gigabytes = (bavail * bsize) / 1e9;
  if (gigabytes < 1) throw new Error(`only ${gigabytes.toFixed(1)} GB free at ${home.root}: free some space`);
  return `${gigabytes.toFixed(0)} GB free at ${home.root}`;
}

/** `toLookAt`: a sentence for each problem; `nothing`: the sentence where there is none. */
interface Looked {
  readonly toLookAt: readonly string[];
  readonly nothing: string;
}

/** These settings may be intended on one's own server, network or machine, so none of them fails the command. */
async function warnings(what: string, look: () => Looked | Promise<Looked>): Promise<Finding[]> {
  const found: Finding[] = [];
  const looked = await finding(what, async () => {
    const { toLookAt, nothing } = await look();
    found.push(...toLookAt.map((one) => ({ what, ok: true, found: one, warning: true as const })));
    return nothing;
  });
  return found.length > 0 ? found : [looked];
}

/** Since 0.6, new files are private to their owner; older ones may not be. */
async function closedFiles(): Promise<Looked> {
  const { home, lake } = readConfig();
  const { root } = await openHome(home);
  const open = await openToEverybody([root, lake.location]);
  return {
    toLookAt: open.map((path) => `every user of this machine can read ${path}: chmod -R o= '${path}'`),
    nothing: 'closed to other users',
  };
}

function encryption(settings: Settings): Looked {
  return { toLookAt: sentInClear(settings), nothing: 'nothing leaves this machine in clear text' };
}

/** Syncs and snapshots work without. */
async function pythonFor(): Promise<string> {
  const { pythonVersion } = await import('../python/python-environment.ts');
  try {
    return `${await pythonVersion(martsNeedPython)}, for the marts`;
  } catch (error) {
    if (!isNothingToBuild(error)) throw error;
    throw new Error(`the marts are skipped. ${error.message}`, { cause: error });
  }
}

async function databaseOf(warehouse: Warehouse): Promise<string> {
  const { rows } = await warehouse.pool.query<{ server_version: string }>('show server_version');
  await checkSchema(warehouse);
  return `Postgres ${rows[0]?.server_version ?? ''}, migrated`;
}

async function clockOf(warehouse: Warehouse): Promise<string> {
  return `Postgres says ${(await requireClock(warehouse)).toISOString()}, within a day of this host's clock`;
}

async function poolerOf({ database }: Settings): Promise<Looked> {
  const { pooler, direct } = await checkAddresses(database);
  const toLookAt =
    direct === 'transaction mode'
      ? [
          'migrations, exports and builds go through a pooler that lends sessions: set DAYBOOK_DATABASE_DIRECT_URL to the address of Postgres itself',
        ]
      : [];
  return { toLookAt, nothing: pooler };
}

/** A role that did not migrate has none of what `migrate` sets for its own. */
async function sessionsOf({ pool }: Warehouse): Promise<Looked> {
  const missing = await missingRoleSettings(pool);
  const toRun = `sessions of this role lack what "daybook migrate" sets for the role that it runs as. Run: ${missing.join(' ')}`;
  return {
    toLookAt: missing.length === 0 ? [] : [toRun],
    nothing: 'sessions that freeze lose their locks',
  };
}

/** The logins for readers, and settings that let others in too. */
async function readersOf(warehouse: Warehouse): Promise<Looked> {
  const { hasRole, toRun, notLetIn } = await readersState(warehouse);
  const why = hasRole
    ? 'everyone who can log in to the server can connect to this database, or write to it'
    : 'there is no role daybook_reader for this user, so queries run as the owner, read-only';
  const ask = `${why}. Ask an administrator of the server to run: ${toRun} Then run "daybook migrate".`;
  const ofSome = await listReaders(warehouse);
  const count = ofSome.length === 0 ? '' : `; ${ofSome.length} limited to some connections`;
  const waiting = notLetIn.length === 0 ? '' : `; without CONNECT here: ${notLetIn.join(', ')}`;
  return {
    toLookAt: [...(toRun === '' ? [] : [ask]), ...ofSome.flatMap(troubleOf)],
    nothing: `daybook_reader exists, and only roles with CONNECT can connect${count}${waiting}`,
  };
}

function troubleOf({ reader, login, connections, trouble, beyond }: ReaderListed): string[] {
  const found = beyond.map(
    (role) =>
      `reader ${reader} sees all connections with "set role ${role}", which its login was made a member of. Run: revoke ${role} from ${login};`,
  );
  if (trouble !== null)
    found.push(`reader ${reader} cannot read: ${trouble}. "daybook reader add" recreates it`);
  else if (connections.length === 0)
    found.push(
      `reader ${reader} sees nothing, since its connections were removed: "daybook reader remove ${reader}"`,
    );
  return found;
}

async function temporalFindings(warehouse: Warehouse, settings: Settings): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { namespace } = settings.temporal;
  const client = await attempt(findings, 'Temporal', async () => {
    const connected = await connectTemporal(settings);
    await connected.workflowService.describeNamespace({ namespace });
    return { value: connected, found: `answers, namespace ${namespace}` };
  });
  if (client === undefined) return findings;
  const owned = await attempt(findings, 'owner of the namespace', async () => {
    const { owner, trouble } = await readOwnership({ warehouse, temporal: client, settings });
    if (trouble !== null) throw new Error(trouble);
    return { value: true, found: owner?.inWords ?? 'nobody yet: the first worker that starts claims it' };
  });
  findings.push(
    await finding('search attributes', async () => {
      const missing = await missingSearchAttributes(client, namespace);
      if (missing.length === 0) return 'registered';
      const flags = missing.map((name) => `--name ${name} --type Keyword`).join(' ');
      throw new Error(
        `missing, so runs are harder to find: temporal operator search-attribute create ${flags}`,
      );
    }),
    await finding('worker', async () => {
      const { pollers } = await client.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name: mainQueue },
      });
      const polling = pollers.filter(({ lastAccessTime }) => isRecent(lastAccessTime)).length;
      if (polling === 0) throw new Error('none is polling: start "daybook worker" or "daybook up"');
      if (owned === undefined)
        throw new Error(`${polling} polling, maybe for another owner: see the owner of the namespace`);
      return `${polling} polling`;
    }),
    ...(await warnings('backlog', () => backlogOf(client))),
  );
  await client.connection.close();
  return findings;
}

async function backlogOf(temporal: Client): Promise<Looked> {
  const backlog = await readBacklog(temporal);
  if (backlog === undefined)
    return { toLookAt: [], nothing: 'this Temporal server does not report its backlog' };
  const found = backlog.steps === 0 ? 'nothing waits for a worker' : backlogInWords(backlog);
  return { toLookAt: isLate(backlog) ? [`${found}. ${backlogRemedy}`] : [], nothing: found };
}

/** Temporal names pollers for minutes after they are gone; one that lives comes back within 60 s, and clocks may differ a little. */
function isRecent(time: { seconds?: { toString(): string } | null } | null | undefined): boolean {
  return Date.now() / 1_000 - Number(time?.seconds ?? 0) < 90;
}

/** One request for each connection, within the budget; before the first one is added there is nobody to ask for. */
async function apiOf(warehouse: Warehouse, settings: Settings): Promise<string> {
  const { api, secretKey } = settings;
  const connections = (await listConnections(warehouse)).filter(
    ({ api_address }) => api_address === api.address,
  );
  if (connections.length === 0) return `${api.url}, not checked: there are no connections yet`;
  const budget = openApiBudget(warehouse, { apiAddress: api.address, ...api });
  const client = createApiClient({ ...api, baseUrl: api.url, budget });
  try {
    for (const { connection_id: connectionId } of connections) {
      const { token } = await readAccess(warehouse, secretKey, { connectionId, apiAddress: api.address });
      await client.list({ accessToken: token, ...listOfOne(bills) }).catch((error: unknown) => {
        if (!isAnswer(error))
          throw new Error(`${connectionId}: ${explain(error, { verbose: false })}`, { cause: error });
      });
    }
  } finally {
    await client.close();
  }
  return `${api.url} accepts the credentials of ${connections.length} ${connections.length === 1 ? 'connection' : 'connections'}`;
}

async function demandOf(warehouse: Warehouse, { api }: Settings): Promise<Looked> {
  const demand = await readDemand(warehouse, api);
  const silentUntil = await readApiSilence(warehouse, api);
  const toLookAt = [demandTrouble(demand), silenceInWords(silentUntil)].filter(
    (trouble) => trouble !== undefined,
  );
  return { toLookAt, nothing: demandInWords(demand) };
}

/** Not ready yet, or not offered for the platform: the credentials are right in any case. */
function isAnswer(error: unknown): boolean {
  return error instanceof Error && ['ProductNotReady', 'NotSupported'].includes(error.name);
}

async function finding(what: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return { what, ok: true, found: await look() };
  } catch (error) {
    return { what, ok: false, found: explain(error, { verbose: false }) };
  }
}

async function attempt<Value>(
  findings: Finding[],
  what: string,
  look: () => Promise<{ value: Value; found: string }>,
): Promise<Value | undefined> {
  let value: Value | undefined;
  findings.push(
    await finding(what, async () => {
      const seen = await look();
      ({ value } = seen);
      return seen.found;
    }),
  );
  return value;
}
