import { setTimeout as wait } from 'node:timers/promises';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import type { RunningUp } from '../start-up.ts';

type Sandbox = NonNullable<RunningUp['sandbox']>;

/** The access for changes at the source: the service's own API, on behalf of a company of the sandbox. */
export interface SourceAccess {
  readonly sandbox: Sandbox;
  readonly connection: string;
  readonly credentials: { readonly clientId: string; readonly clientSecret: string };
}

/** Ids of the changed, the entered and the deleted bill. */
export interface Bookings {
  readonly changed: string;
  readonly entered: string;
  readonly deleted: string;
}

/** Changes, enters and deletes a bill through the service's write API. A webhook announces each. */
export async function workOnBills(source: SourceAccess): Promise<Bookings> {
  const [first, second] = await someBills(source);
  const { id: changed } = first;
  const memo = `Approved at ${new Date().toISOString()}`;
  await call(source, 'PATCH', `/accounting/bills/${changed}`, `{"bill":{"memo":"${memo}"}}`);
  const { vendor_id, issue_date, currency_code } = first;
  const head = JSON.stringify({ vendor_id, issue_date, currency_code }).slice(1, -1);
  // The amount stays text, like every amount: parsing would make it a float.
  const lines = '[{"description":"Entered by the tour","total_amount":49.90}]';
  const body = `{"bill":{${head},"line_items":${lines}}}`;
  const { bill } = (await call(source, 'POST', '/accounting/bills', body)) as { bill: { id: string } };
  await call(source, 'DELETE', `/accounting/bills/${second.id}`);
  return { changed, entered: bill.id, deleted: second.id };
}

/** Returns the seconds until webhooks alone have brought all three to Postgres; undefined if that takes over 30 s. */
export async function secondsUntilCopied(
  { pool }: Warehouse,
  { connection, bookings, since }: { connection: string; bookings: Bookings; since: Date },
): Promise<number | undefined> {
  const { changed, entered, deleted } = bookings;
  const deadline = Date.now() + 30_000;
  while (Date.now() < deadline) {
    const { rows } = await pool.query(
      `select
       where exists (select from finance.bills where connection_id = $1 and id = $2 and last_synced_at >= $5)
         and exists (select from finance.bills where connection_id = $1 and id = $3)
         and not exists (select from finance.bills where connection_id = $1 and id = $4)`,
      [connection, changed, entered, deleted, since],
    );
    if (rows.length > 0) return (Date.now() - since.getTime()) / 1000;
    await wait(50);
  }
  return undefined;
}

/** Makes changes while webhooks are lost: records change, and one bill is deleted without an event. */
export async function changeWithoutWebhooks({
  sandbox,
  connection,
}: SourceAccess): Promise<{ changed: number; vanished: string }> {
  const { adminUrl } = sandbox;
  const settings = (await (await ok(fetch(`${adminUrl}/webhooks`))).json()) as object;
  await send(`${adminUrl}/webhooks`, 'PUT', JSON.stringify({ ...settings, lost: 1 }));
  try {
    const activity = JSON.stringify({ connection, seed: Date.now(), changes: 2 });
    const { commands } = (await send(`${adminUrl}/activity`, 'POST', activity)) as { commands: unknown[] };
    const oldest = await (await ok(fetch(`${adminUrl}/content/${connection}/bills?limit=1`))).text();
    const { id: vanished } = JSON.parse(oldest) as { id: string };
    const command = { kind: 'delete', connection, resource: 'bills', id: vanished, event: false };
    await send(`${adminUrl}/commands`, 'POST', JSON.stringify(command));
    return { changed: commands.length, vanished };
  } finally {
    await send(`${adminUrl}/webhooks`, 'PUT', JSON.stringify(settings));
  }
}

interface Bill {
  id: string;
  vendor_id: string | null;
  issue_date: string;
  currency_code: string;
  linked_credit_memos: unknown[];
}

/** Returns two bills without applied credits, since the service deletes no others. */
async function someBills(source: SourceAccess): Promise<[Bill, Bill]> {
  const { bills } = (await call(source, 'GET', '/accounting/bills')) as { bills: Bill[] };
  const [first, second] = bills.filter(({ linked_credit_memos: credits }) => credits.length === 0);
  if (first === undefined || second === undefined)
    throw new Error(`${source.connection} has no bills left to show.`);
  return [first, second];
}

async function call(
  { sandbox, connection, credentials }: SourceAccess,
  method: string,
  path: string,
  body?: string,
): Promise<unknown> {
  const token = sandbox.connections.find(({ name }) => name === connection)?.accessToken ?? '';
  const { clientId, clientSecret } = credentials;
  return send(
    `${sandbox.url}${path}?${new URLSearchParams({ access_token: token }).toString()}`,
    method,
    body,
    {
      authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
      'x-service-version': '2023-03-14',
    },
  );
}

async function send(
  url: string,
  method: string,
  body: string | undefined,
  headers: Record<string, string> = {},
): Promise<unknown> {
  const response = await ok(
    fetch(url, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
    }),
  );
  return response.json();
}

async function ok(pending: Promise<Response>): Promise<Response> {
  const response = await pending;
  if (!response.ok) {
    const { pathname } = new URL(response.url);
    throw new Error(`The sandbox answered ${response.status} to ${pathname}: ${await response.text()}`);
  }
  return response;
}
