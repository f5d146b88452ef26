import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { clientSecret, createInstallation, secretKey } from '../support/installation.ts';
import { rows } from '../support/rows.ts';
import { sync } from '../support/sync.ts';

const installation = await createInstallation({
  env: { DAYBOOK_LOG_LEVEL: 'debug', DAYBOOK_GIVE_UP_AFTER: '1s' },
});
const { admin, client, warehouse } = installation;
const worker = await installation.startWorker();

test('no token, secret or content of a record is in histories, logs, errors or the tables of the ledger', async () => {
  const connection = await installation.connect();
  const memo = 'planted-memo-of-a-record';
  await admin.execute(
    { kind: 'add', connection, resource: 'bills', record: bill('good', { memo: `"${memo}"` }) },
    { kind: 'add', connection, resource: 'bills', record: bill('bad', { memo: `["${memo}"]` }) },
  );
  await sync(installation, connection);
  for (const fault of [
    { kind: 'truncated' },
    { kind: 'reset' },
    { kind: 'html', status: 502 },
    { kind: 'status', status: 401, code: 'INVALID_CREDENTIALS' },
  ] as const) {
    await admin.addFault({ match: { connection }, fault });
    await sync(installation, connection);
    await admin.clearFaults();
  }
  await installation
    .connect({ token: `other-token-of-${connection}` })
    .then((name) => sync(installation, name));

  const planted = [`token-of-${connection}`, clientSecret, basic, secretKey.toString('base64'), memo];
  const places = { histories: await histories(), log: worker.output(), ledger: await ledger() };
  for (const [place, text] of Object.entries(places)) {
    expect(text, place).toContain(connection);
    for (const value of planted) expect(text.includes(value), `${value} in ${place}`).toBe(false);
  }
});

const basic = Buffer.from(`sandbox-client:${clientSecret}`).toString('base64');

/** Every history of the namespace, with its payloads as the text they are. */
async function histories(): Promise<string> {
  const texts: string[] = [];
  for await (const { workflowId, runId } of client.workflow.list()) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    texts.push(...(events ?? []).flatMap(textsIn));
  }
  return texts.join('\n');
}

function textsIn(value: unknown): string[] {
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('utf8')];
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** All of `sync`, but for what keeps records on purpose: quarantined payloads. */
async function ledger(): Promise<string> {
  const tables = await rows(warehouse, `select tablename from pg_tables where schemaname = 'sync'`);
  const texts = await Promise.all(
    tables.map(({ tablename }) =>
      rows(warehouse, `select to_jsonb(t) - 'payload' as row from sync.${String(tablename)} t`),
    ),
  );
  return JSON.stringify(texts);
}
