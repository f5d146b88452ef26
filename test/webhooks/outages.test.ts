import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { webhookSignature } from '../../source/webhook-signature.ts';
import { createWebhookIntake } from '../../server/webhooks/webhook-intake.ts';
import { startDaybook } from '../support/daybook-process.ts';
import { bill } from '../support/finance-records.ts';
import { clientSecret, createInstallation } from '../support/installation.ts';
import { rows } from '../support/rows.ts';
import {
  appliedInbox,
  changeBill,
  readIds,
  readInbox,
  readMemo,
  syncedCompany,
  readListeningUrl,
} from './company.ts';
import { entityWebhook, send } from './webhook.ts';

const installation = await createInstallation();
const { warehouse, cwd, env } = installation;

test('webhooks that arrive while Temporal is unreachable are stored and acknowledged, and applied later', async () => {
  const worker = await installation.startWorker();
  const connection = await syncedCompany(installation);
  const [id = ''] = await readIds(installation, connection);
  const lines: string[] = [];
  const nobody = Connection.lazy({ address: `127.0.0.1:${await freePort()}` });
  const intake = createWebhookIntake({
    warehouse,
    temporal: new Client({ connection: nobody }),
    clientSecret,
    apiAddress: env.DAYBOOK_API_URL ?? '',
    logger: pino({ level: 'warn' }, { write: (line: string) => lines.push(line) }),
  });
  onTestFinished(() => {
    intake.close();
  });
  const body = Buffer.from(await changeBill(installation, connection, { id, memo: 'Temporal was down' }));
  expect(await intake.receive(body, webhookSignature(body, clientSecret))).toBe('stored');
  await appliedInbox(installation, connection);
  expect(await readMemo(installation, connection, id)).toBe('Temporal was down');
  await worker.stop();
});

test('webhooks that arrived while no worker ran are applied within 30 s of the start of one', async () => {
  const before = await installation.startWorker();
  const connection = await syncedCompany(installation);
  await before.stop('SIGKILL');
  const [id = ''] = await readIds(installation, connection);
  const serving = startDaybook(['serve'], { cwd, env });
  onTestFinished(async () => {
    await serving.stop();
  });
  await serving.waitForOutput(/Serving at/);
  await send(
    readListeningUrl(serving),
    await changeBill(installation, connection, { id, memo: 'nobody was there' }),
  );
  expect(await readInbox(installation, connection)).toMatchObject([{ status: 'waiting' }]);
  await installation.startWorker();
  const started = Date.now();
  await appliedInbox(installation, connection);
  expect(Date.now() - started).toBeLessThan(30_000);
  expect(await readMemo(installation, connection, id)).toBe('nobody was there');
});

test('a server killed in the middle of 200 a second has stored every webhook that it acknowledged', async () => {
  const port = String(await freePort());
  const serve = async (): Promise<ReturnType<typeof startDaybook>> => {
    const serving = startDaybook(['serve'], { cwd, env: { ...env, DAYBOOK_HTTP_PORT: port } });
    await serving.waitForOutput(/Serving at/);
    return serving;
  };
  const first = await serve();
  const acknowledged = new Set<string>();
  const sendUntil = async (name: string, isOver: () => boolean): Promise<void> => {
    const body = entityWebhook('anybody', { entity: 'BILL', what: 'UPDATED', record: bill(name) });
    while (!isOver()) {
      const status = await send(`http://127.0.0.1:${port}`, body).catch(() => 0);
      if (status !== 200) continue;
      acknowledged.add(name);
      return;
    }
  };
  const state = { killed: false };
  const sent: Promise<void>[] = [];
  for (let number = 0; acknowledged.size < 300; number += 1) {
    sent.push(sendUntil(`bill-${number}`, () => state.killed));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const ended = first.stop('SIGKILL');
  await ended;
  state.killed = true;
  await Promise.all(sent);
  const stored = await storedIds();
  expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
  // The service sends again the webhooks that were not acknowledged.
  const second = await serve();
  await Promise.all(sent.map((_, number) => sendUntil(`bill-${number}`, () => false)));
  expect((await storedIds()).size).toBe(sent.length);
  expect((await second.stop('SIGTERM')).code).toBe(0);
});

async function storedIds(): Promise<Set<unknown>> {
  const stored = await rows(
    warehouse,
    `select record_id from sync.webhook_inbox where service_connection_id = 'conn-anybody'`,
  );
  return new Set(stored.map(({ record_id }) => record_id));
}
