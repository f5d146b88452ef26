import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { resourceNamed } from '../../resources/index.ts';
import { closeKnown } from '../../warehouse/webhooks/close-webhooks.ts';
import { leaveToList } from '../../warehouse/webhooks/leave-to-list.ts';
import { storeWebhooks } from '../../warehouse/webhooks/store-webhooks.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { isProof } from '../support/proof-test.ts';
import { row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { limitStatementTime } from '../support/limit-statement-time.ts';

const { warehouse } = await createTestDatabase();
const resource = resourceNamed('bills');
const many = isProof ? 8_000 : 4_000;

test('thousands of waiting webhooks are left to the next list within 2 s, despite stale statistics', async () => {
  await announce(await addTestConnection(warehouse));
  await warehouse.pool.query(`update sync.webhook_inbox set status = 'applied', closed_at = now()`);
  for (const table of ['sync.webhook_inbox', 'finance.bills']) {
    await warehouse.pool.query(`analyze ${table}`);
    await warehouse.pool.query(`alter table ${table} set (autovacuum_enabled = off)`);
  }
  const connectionId = await addTestConnection(warehouse);
  await announce(connectionId);
  await limitStatementTime(warehouse);
  await closeKnown(warehouse, { connectionId, resource });
  await leaveToList(warehouse, { connectionId, resource });
  const left = `select count(*)::int as records from sync.webhook_inbox where connection_id = $1 and outcome = 'left to the next list'`;
  expect(await row(warehouse, left, [connectionId])).toEqual({ records: many });
});

/** Lands bills, and stores a webhook for each. */
async function announce(connectionId: string): Promise<void> {
  const bills = Array.from({ length: many }, (_, place) => bill(`bill-${place}`));
  await land(warehouse, {
    connectionId,
    stream: 'bills',
    pages: [bills.slice(0, many / 2), bills.slice(many / 2)],
  });
  const { api_address: apiAddress } = await row(
    warehouse,
    'update sync.connections set service_connection_id = $1 where connection_id = $1 returning api_address',
    [connectionId],
  );
  for (let begin = 0; begin < many; begin += 2_000) {
    const webhooks = Array.from({ length: 2_000 }, (_, place) => {
      const recordId = `bill-${begin + place}`;
      const kind = { type: 'BILL', code: 'BILL_UPDATED' };
      const text = JSON.stringify({ ...kind, connection_id: connectionId, bill: { id: recordId } });
      const digest = createHash('sha256').update(text).digest('hex');
      return { ...kind, text, digest, serviceConnectionId: connectionId, resource, recordId, version: null };
    });
    await storeWebhooks(warehouse, { apiAddress: String(apiAddress), webhooks });
  }
}
