import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { webhookSignature } from '../../source/webhook-signature.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { createWebhookIntake, type Receipt } from '../../server/webhooks/webhook-intake.ts';
import { bill } from '../support/finance-records.ts';
import { clientSecret } from '../support/installation.ts';
import { rows } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { entityWebhook } from './webhook.ts';

const { warehouse, url } = await createTestDatabase();

test('a webhook that a vanished Postgres does not store is refused within 20 s, and stored when it comes again', async () => {
  const host = await startBlackholeProxy(url);
  const over = openWarehouse({ url: host.url, connections: 4 });
  const nobody = Connection.lazy({ address: `127.0.0.1:${await freePort()}` });
  const intake = createWebhookIntake({
    warehouse: over,
    temporal: new Client({ connection: nobody }),
    clientSecret,
    apiAddress: 'http://127.0.0.1',
    logger: pino({ level: 'silent' }),
  });
  onTestFinished(async () => {
    intake.close();
    host.close();
    await over.close();
  });
  const send = (name: string): Promise<Receipt> => {
    const body = Buffer.from(
      entityWebhook('anybody', { entity: 'BILL', what: 'UPDATED', record: bill(name) }),
    );
    return intake.receive(body, webhookSignature(body, clientSecret));
  };
  expect(await send('before')).toBe('stored');
  host.vanish();
  const began = Date.now();
  const first = send('lost');
  const second = send('behind');
  await expect(first).rejects.toThrow('Postgres had not stored it within 15 s.');
  expect(Date.now() - began).toBeLessThan(20_000);
  expect(await second).toBe('stored');
  expect(await send('lost')).toBe('stored');
  const stored = await rows(warehouse, 'select record_id from sync.webhook_inbox order by record_id');
  expect(stored.map(({ record_id }) => record_id)).toEqual(['before', 'behind', 'lost']);
});

/** An address of Postgres whose connections end silently. New connections lead to the server that has taken over. */
async function startBlackholeProxy(
  target: string,
): Promise<{ url: string; vanish: () => void; close: () => void }> {
  const { hostname, port } = new URL(target);
  const open = new Set<() => void>();
  const ends: (() => void)[] = [];
  const server = createServer((client) => {
    const to = connect(Number(port), hostname);
    client.pipe(to).pipe(client);
    for (const socket of [client, to]) socket.on('error', () => socket.destroy());
    open.add(() => {
      client.unpipe(to).resume();
      to.unpipe(client).destroy();
    });
    ends.push(() => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = new URL(target);
  address.hostname = '127.0.0.1';
  address.port = String((server.address() as AddressInfo).port);
  return {
    url: address.href,
    vanish: () => {
      for (const vanish of open) vanish();
      open.clear();
    },
    close: () => {
      for (const end of ends) end();
      server.close();
    },
  };
}
