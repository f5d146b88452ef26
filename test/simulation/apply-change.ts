import { rebuildConnection } from '../../operations/rebuild-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { setToken } from '../../warehouse/connections/set-token.ts';
import { discardEntries } from '../../warehouse/quarantine/discard-entries.ts';
import { resourceNamed, resources } from '../../resources/index.ts';
import { buildQuestion } from '../../warehouse/reconcile/deletion-question.ts';
import { readWaitingDeletions } from '../../warehouse/reconcile/read-waiting-deletions.ts';
import { addConnectionWithToken, sandboxToken, type Company, type ShownDeletions } from './company.ts';
import { secretKey } from './create-dependencies.ts';
import { isIncident, neverNamesCompany, type Change } from './history.ts';
import { contentWithoutVersion } from './judge-quarantine.ts';
import { parseRecordName } from './true-record.ts';

/** Carries out a change: at the source, in the environment of the companies, or to the installation (between runs only). */
export async function applyChange(
  companies: readonly Company[],
  change: Change,
  { betweenRuns }: { betweenRuns: boolean },
): Promise<void> {
  const company = companies[(change.company ?? 0) % companies.length];
  if (company === undefined) return;
  company.played.changes += 1;
  if (!isIncident(change.what)) return company.source.apply(change);
  await company.harness.clock.pass(change.milliseconds);
  const operation = operations[change.what];
  if (operation === undefined) {
    if (change.what === 'cursors break') for (const one of companies) one.cursorsBroke = true;
    return company.environment.change(change);
  }
  if (betweenRuns) await operation(company, companies);
}

/** Gives the connection its own token again, whatever was done to it before. */
export async function setOwnToken(company: Company): Promise<void> {
  const { connection: connectionId, harness } = company;
  if (company.token === 'none') await addConnectionWithToken(company, connectionId);
  else if (company.token === 'foreign' || (await isRefused(company)))
    await setToken(harness.warehouse, secretKey, { connectionId, token: sandboxToken(connectionId) });
  company.token = 'own';
}

export async function rebuild({ harness, connection }: Company): Promise<void> {
  await rebuildConnection(harness.warehouse, {
    connectionId: connection,
    resources,
    onBatch: () => undefined,
  });
}

type Operation = (company: Company, companies: readonly Company[]) => Promise<void>;

const operations: Partial<Record<Change['what'], Operation>> = {
  async 'foreign token'(company, companies) {
    if (company.token === 'none' || !(await isPinned(company))) return;
    const token = sandboxToken(await findOtherConnection(company, companies));
    await setToken(company.harness.warehouse, secretKey, { connectionId: company.connection, token });
    company.token = 'foreign';
  },
  'own token': setOwnToken,
  'add again': async (company) => {
    // Records kept from a company that no answer names cannot be attributed to anyone, so the name is not free.
    if (neverNamesCompany(company.history)) return;
    await removeKeepingData(company);
    await setOwnToken(company);
  },
  async 'add again with a foreign token'(company, companies) {
    // If a company left no data behind, nothing shows to which company the name belonged.
    if (!(await isPinned(company)) || !(await hasLanded(company))) return;
    await removeKeepingData(company);
    try {
      await addConnectionWithToken(company, await findOtherConnection(company, companies));
      company.token = 'foreign';
    } catch (error) {
      // The warehouse may know already that this is another company.
      if (!(error instanceof Error) || !('handling' in error) || error.handling !== 'stop') throw error;
    }
  },
  'look at the question': async (company) => {
    company.shownDeletions = await readShownDeletions(company);
  },
  discard,
  rebuild: async (company) => {
    if (company.token !== 'none') await rebuild(company);
  },
  'lose rows': loseRows,
};

/** Whether an answer has tied the name to a company. Before the first answer, no token counts as another company's. */
export async function isPinned({ harness, connection }: Company): Promise<boolean> {
  const { rowCount } = await harness.watcher.query(
    `select from sync.connections where connection_id = $1 and service_connection_id is not null
     union all
     select from sync.kept_data where connection_id = $1 and service_connection_id is not null`,
    [connection],
  );
  return rowCount !== 0;
}

/** Whether the service has named another company for the connection's current token. */
async function isRefused({ harness, connection }: Company): Promise<boolean> {
  const { rowCount } = await harness.watcher.query(
    'select from sync.connections where connection_id = $1 and refused_token is not null',
    [connection],
  );
  return rowCount !== 0;
}

async function hasLanded({ harness, connection }: Company): Promise<boolean> {
  const { rowCount } = await harness.watcher.query(
    `select from history.record_versions where connection_id = $1
     union all
     select from sync.tombstones where connection_id = $1
     limit 1`,
    [connection],
  );
  return rowCount !== 0;
}

async function findOtherConnection(company: Company, companies: readonly Company[]): Promise<string> {
  const other = companies.find((one) => one !== company);
  return other?.connection ?? company.openOtherCompany();
}

async function removeKeepingData(company: Company): Promise<void> {
  if (company.token === 'none') return;
  await removeConnection(company.harness.warehouse, { connectionId: company.connection, keepData: true });
  noteRemoval(company);
}

/** Forgets what the warehouse knew about the connection: from here on, the removal may have deleted it. */
export function noteRemoval(company: Company): void {
  company.token = 'none';
  company.removals += 1;
  company.passBeganAt.clear();
  company.lastServedAt.clear();
  company.answered.clear();
  const { records, discardedContents } = company.source;
  for (const record of records.values()) if (record.discarded === 'yes') record.discarded = 'unsure';
  for (const content of discardedContents.keys()) discardedContents.set(content, 'unsure');
}

/** The deletions that wait for approval, as a page or a command would list them. */
export async function readShownDeletions({ harness, connection }: Company): Promise<ShownDeletions> {
  const waiting = await readWaitingDeletions(harness.warehouse, { connectionId: connection });
  const { rows } = await harness.watcher.query<{ name: string }>(
    `select resource || '/' || record_id as name from sync.discrepancies
     where connection_id = $1 and status = 'confirmed'`,
    [connection],
  );
  return { names: new Set(rows.map(({ name }) => name)), question: buildQuestion(waiting) };
}

/** Discards everything that waits in quarantine, as a person would. */
function discard(company: Company): Promise<void> {
  return discardWhere(company, 'true');
}

/** Deletes all rows of a company from `finance`. Only a reconcile brings back records that no list shows as new. */
async function loseRows(company: Company): Promise<void> {
  const { harness, connection, source } = company;
  company.rowsLost = true;
  for (const { name, children } of source.listed.map(resourceNamed))
    for (const table of [name, ...children.map((child) => child.table)])
      await harness.watcher.query(`delete from finance.${table} where connection_id = $1`, [connection]);
  for (const record of source.records.values()) if (record.live) record.hidden = true;
}

/** Discards the records without a usable id, by which a person says that none of them is a missing record. */
export function discardNameless(company: Company): Promise<void> {
  return discardWhere(company, `record_id is null and stream <> 'events'`);
}

async function discardWhere({ harness, connection, source }: Company, condition: string): Promise<void> {
  const { rows } = await harness.watcher.query<{
    id: number;
    content: string;
    name: string | null;
    payload: string;
  }>(
    `select id::int as id, sync.content_hash(payload) as content, resource || '/' || record_id as name, payload from sync.quarantine
     where connection_id = $1 and status = 'open' and ${condition}`,
    [connection],
  );
  if (rows.length === 0) return;
  await discardEntries(harness.warehouse, { entries: rows, why: 'simulation' });
  const payloads = new Set(rows.map(({ payload }) => contentWithoutVersion(payload)));
  for (const { name } of rows) {
    const record = source.records.get(name ?? '');
    // A record that was deleted unnoticed may be recreated exactly as it was when it was discarded.
    if (record?.live === false) record.discarded = 'unsure';
  }
  for (const resource of source.listed)
    for (const line of await harness.admin.content(connection, resource)) {
      if (!payloads.has(contentWithoutVersion(line))) continue;
      const name = parseRecordName(resource, line);
      const record = name === undefined ? undefined : source.records.get(name);
      if (record === undefined || record.nameless)
        source.discardedContents.set(contentWithoutVersion(line), 'yes');
      else record.discarded = 'yes';
    }
}
