import type { ResourceName } from '../../sandbox/api/resources.ts';
import { eventually } from '../support/eventually.ts';
import type { DaybookProcess } from '../support/daybook-process.ts';
import type { Installation } from '../support/installation.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { sync } from '../support/sync.ts';
import { entityWebhook } from './webhook.ts';

/** The address at which a process of ours listens. */
export function readListeningUrl(process: DaybookProcess): string {
  const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(process.output()) ?? [];
  if (url === undefined) throw new Error('The process has not said where it listens.');
  return url;
}

/** A synced company, whose identity at the service is therefore known. */
export async function syncedCompany(
  installation: Installation,
  input: { records?: number } = {},
): Promise<string> {
  const connection = await installation.connect({ records: 100, ...input });
  await sync(installation, connection);
  return connection;
}

/** Ids of some records of the company. */
export async function readIds(
  { admin }: Pick<Installation, 'admin'>,
  connection: string,
  { resource = 'bills', count = 1 }: { resource?: ResourceName; count?: number } = {},
): Promise<string[]> {
  const records = await admin.content(connection, resource);
  return records.slice(0, count).map((record) => (JSON.parse(record) as { id: string }).id);
}

/** The record as the service has it now. Undefined if it has none. */
export async function readRecord(
  { admin }: Pick<Installation, 'admin'>,
  connection: string,
  { id, resource = 'bills' }: { id: string; resource?: ResourceName },
): Promise<string | undefined> {
  const records = await admin.content(connection, resource);
  return records.find((record) => (JSON.parse(record) as { id: string }).id === id);
}

/** Changes a bill at the source, and returns its webhook. */
export async function changeBill(
  installation: Pick<Installation, 'admin'>,
  connection: string,
  { id, memo }: { id: string; memo: string },
): Promise<string> {
  const patch = JSON.stringify({ memo });
  await installation.admin.execute({ kind: 'change', connection, resource: 'bills', id, patch });
  const record = (await readRecord(installation, connection, { id })) ?? '';
  return entityWebhook(connection, { entity: 'BILL', what: 'UPDATED', record });
}

/** The inbox of a connection in the order of arrival. */
export function readInbox(
  { warehouse }: Pick<Installation, 'warehouse'>,
  connection: string,
): Promise<Row[]> {
  return rows(
    warehouse,
    `select code, record_id, status, outcome, deliveries::int, tries, run_id
     from sync.webhook_inbox where connection_id = $1 order by id`,
    [connection],
  );
}

/** Waits until no webhook of the connection waits any more, and returns its inbox. */
export function appliedInbox(
  installation: Pick<Installation, 'warehouse'>,
  connection: string,
): Promise<Row[]> {
  return eventually(async () => {
    const inbox = await readInbox(installation, connection);
    return inbox.length > 0 && inbox.every(({ status }) => status !== 'waiting') ? inbox : undefined;
  });
}

export async function readMemo(
  { warehouse }: Pick<Installation, 'warehouse'>,
  connection: string,
  id: string,
): Promise<unknown> {
  const sql = 'select max(memo) as memo from finance.bills where connection_id = $1 and id = $2';
  return (await row(warehouse, sql, [connection, id])).memo;
}

/** The number of fetches of the record by its id. */
export async function countFetches(
  { admin }: Pick<Installation, 'admin'>,
  connection: string,
  id: string,
): Promise<number> {
  const requests = await admin.requests();
  return requests.filter((one) => one.connection === connection && one.path === `/accounting/bills/${id}`)
    .length;
}
