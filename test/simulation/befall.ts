import { rebuildConnection } from '../../operations/rebuild-connection.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { setToken } from '../../warehouse/connections/set-token.ts';
import { discardEntries } from '../../warehouse/quarantine/discard-entries.ts';
import { resourceNamed, resources } from '../../resources/index.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { buildQuestion } from '../../warehouse/reconcile/deletion-question.ts';
import { readWaitingDeletions } from '../../warehouse/reconcile/read-waiting-deletions.ts';
import { tokenOf, type Company, type Shown } from './company.ts';
import { secretKey } from './dependencies-of.ts';
import { isIncident, namesNobody, type Change } from './history.ts';
import { contentWithoutVersion } from './judge-quarantine.ts';
import { nameOnLine } from './true-record.ts';

/** Carries out a change: at the source, around the companies, or to the installation (between runs only). */
export async function befall(
  companies: readonly Company[],
  change: Change,
  { betweenRuns }: { betweenRuns: boolean },
): Promise<void> {
  const company = companies[(change.company ?? 0) % companies.length];
  if (company === undefined) return;
  company.played.changes += 1;
  if (!isIncident(change.what)) return company.source.apply(change);
  await company.stage.clock.pass(change.milliseconds);
  const deed = deeds[change.what];
  if (deed === undefined) {
    if (change.what === 'cursors break') for (const one of companies) one.cursorsBroke = true;
    return company.surroundings.change(change);
  }
  if (betweenRuns) await deed(company, companies);
}

/** Gives the connection its own token again, whatever was done to it before. */
export async function setOwnToken(company: Company): Promise<void> {
  const { connection: connectionId, stage } = company;
  if (company.token === 'none') await add(company, connectionId);
  else if (company.token === 'foreign' || (await isRefused(company)))
    await setToken(stage.warehouse, secretKey, { connectionId, token: tokenOf(connectionId) });
  company.token = 'own';
}

export async function rebuild({ stage, connection }: Company): Promise<void> {
  await rebuildConnection(stage.warehouse, { connectionId: connection, resources, onBatch: () => undefined });
}

type Deed = (company: Company, companies: readonly Company[]) => Promise<void>;

const deeds: Partial<Record<Change['what'], Deed>> = {
  async 'foreign token'(company, companies) {
    if (company.token === 'none' || !(await isPinned(company))) return;
    const token = tokenOf(await otherThan(company, companies));
    await setToken(company.stage.warehouse, secretKey, { connectionId: company.connection, token });
    company.token = 'foreign';
  },
  'own token': setOwnToken,
  'add again': async (company) => {
    // Records kept from a company that no answer names cannot be attributed to anyone, so the name is not free.
    if (namesNobody(company.history)) return;
    await remove(company);
    await setOwnToken(company);
  },
  async 'add again with a foreign token'(company, companies) {
    // If a company left no data behind, nothing records whose the name was.
    if (!(await isPinned(company)) || !(await hasLanded(company))) return;
    await remove(company);
    try {
      await add(company, await otherThan(company, companies));
      company.token = 'foreign';
    } catch (error) {
      // The warehouse may know already that this is another company.
      if (!(error instanceof Error) || !('handling' in error) || error.handling !== 'stop') throw error;
    }
  },
  'look at the question': async (company) => {
    company.shown = await readQuestion(company);
  },
  discard,
  rebuild: async (company) => {
    if (company.token !== 'none') await rebuild(company);
  },
  'lose rows': loseRows,
};

/** Whether an answer has tied the name to a company. Before the first answer, no token counts as another company's. */
export async function isPinned({ stage, connection }: Company): Promise<boolean> {
  const { rowCount } = await stage.watcher.query(
    `select from sync.connections where connection_id = $1 and service_connection_id is not null
     union all
     select from sync.kept_data where connection_id = $1 and service_connection_id is not null`,
    [connection],
  );
  return rowCount !== 0;
}

/** Whether the service has named another company for the connection's current token. */
async function isRefused({ stage, connection }: Company): Promise<boolean> {
  const { rowCount } = await stage.watcher.query(
    'select from sync.connections where connection_id = $1 and refused_token is not null',
    [connection],
  );
  return rowCount !== 0;
}

async function hasLanded({ stage, connection }: Company): Promise<boolean> {
  const { rowCount } = await stage.watcher.query(
    `select from history.record_versions where connection_id = $1
     union all
     select from sync.tombstones where connection_id = $1
     limit 1`,
    [connection],
  );
  return rowCount !== 0;
}

async function otherThan(company: Company, companies: readonly Company[]): Promise<string> {
  const other = companies.find((one) => one !== company);
  return other?.connection ?? company.stranger();
}

async function remove(company: Company): Promise<void> {
  if (company.token === 'none') return;
  await removeConnection(company.stage.warehouse, { connectionId: company.connection, keepData: true });
  noteRemoval(company);
}

/** Resets what is known of the connection, which may be gone from here on: nobody needs to know what a removal deletes. */
export function noteRemoval(company: Company): void {
  company.token = 'none';
  company.removals += 1;
  company.began.clear();
  company.served.clear();
  company.answered.clear();
  const { records, discardedContents } = company.source;
  for (const record of records.values()) if (record.discarded === 'yes') record.discarded = 'unsure';
  for (const content of discardedContents.keys()) discardedContents.set(content, 'unsure');
}

/** `warehouse` defaults to the stage's. */
export async function add(
  { stage, connection }: Company,
  whose: string,
  warehouse: Warehouse = stage.warehouse,
): Promise<void> {
  const { apiAddress } = stage;
  const access = { connectionId: connection, apiAddress, token: tokenOf(whose), expandPlatformData: false };
  await addConnection(warehouse, secretKey, access);
}

/** The deletions that wait for approval, as a page or a command would list them. */
export async function readQuestion({ stage, connection }: Company): Promise<Shown> {
  const waiting = await readWaitingDeletions(stage.warehouse, { connectionId: connection });
  const { rows } = await stage.watcher.query<{ name: string }>(
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
  const { stage, connection, source } = company;
  company.rowsLost = true;
  for (const { name, children } of source.listed.map(resourceNamed))
    for (const table of [name, ...children.map((child) => child.table)])
      await stage.watcher.query(`delete from finance.${table} where connection_id = $1`, [connection]);
  for (const record of source.records.values()) if (record.live) record.hidden = true;
}

/** Discards the records without a usable id, by which a person says that none of them is a missing record. */
export function discardNameless(company: Company): Promise<void> {
  return discardWhere(company, `record_id is null and stream <> 'events'`);
}

async function discardWhere({ stage, connection, source }: Company, condition: string): Promise<void> {
  const { rows } = await stage.watcher.query<{
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
  await discardEntries(stage.warehouse, { entries: rows, why: 'simulation' });
  const payloads = new Set(rows.map(({ payload }) => contentWithoutVersion(payload)));
  for (const { name } of rows) {
    const record = source.records.get(name ?? '');
    // A record that is gone without anyone's knowledge may be made again just as it was discarded.
    if (record?.live === false) record.discarded = 'unsure';
  }
  for (const resource of source.listed)
    for (const line of await stage.admin.content(connection, resource)) {
      if (!payloads.has(contentWithoutVersion(line))) continue;
      const name = nameOnLine(resource, line);
      const record = name === undefined ? undefined : source.records.get(name);
      if (record === undefined || record.nameless)
        source.discardedContents.set(contentWithoutVersion(line), 'yes');
      else record.discarded = 'yes';
    }
}
