import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import { isProof } from '../support/proof-test.ts';
import { readRecord, readIds, syncedCompany, readListeningUrl, appliedInbox } from './company.ts';
import { entityWebhook, send } from './webhook.ts';

const installation = await createInstallation();
const { admin } = installation;
const url = readListeningUrl(await installation.startWorker());

type Operation = 'change' | 'delete' | 'recreate';

test('webhooks in any order, at any time and doubled leave the warehouse equal to the service', async () => {
  const plans = fc.sample(
    fc.record({
      operations: fc.array(fc.constantFrom<Operation>('change', 'delete', 'recreate'), {
        minLength: 3,
        maxLength: 6,
      }),
      // The places in the order at which each webhook is sent, once or twice, and the one after which the test waits for all.
      places: fc.array(fc.nat(9), { minLength: 12, maxLength: 12 }),
      pauseAfter: fc.nat(11),
    }),
    { numRuns: isProof ? 6 : 2, seed: 20_261_123 },
  );
  for (const { operations, places, pauseAfter } of plans) {
    const connection = await syncedCompany(installation, { records: 30 });
    const [id = ''] = await readIds(installation, connection);
    const bodies: string[] = [];
    for (const [number, operation] of operations.entries())
      bodies.push(...(await applyOperation(connection, { id, operation, number })));
    const order = [...bodies, ...bodies]
      .map((body, index) => ({ body, place: places[index % places.length] ?? 0 }))
      .sort((a, b) => a.place - b.place);
    for (const [index, { body }] of order.entries()) {
      expect(await send(url, body)).toBe(200);
      if (index === pauseAfter) await appliedInbox(installation, connection);
    }
    if (order.length > 0) await appliedInbox(installation, connection);
    const { differences } = await installation.compare(connection);
    expect(differences, `${operations.join(', ')} as ${places.join(' ')}, pause after ${pauseAfter}`).toEqual(
      [],
    );
  }
});

/** Executes the operation at the source if possible, and returns its webhook. */
async function applyOperation(
  connection: string,
  { id, operation, number }: { id: string; operation: Operation; number: number },
): Promise<string[]> {
  const resource = 'bills' as const;
  const before = await readRecord(installation, connection, { id });
  if ((before === undefined) !== (operation === 'recreate')) return [];
  if (operation === 'delete') {
    await admin.execute({ kind: 'delete', connection, resource, id, event: false });
    return [entityWebhook(connection, { entity: 'BILL', what: 'DELETED', record: before ?? '' })];
  }
  await admin.execute(
    operation === 'change'
      ? { kind: 'change', connection, resource, id, patch: JSON.stringify({ memo: `number ${number}` }) }
      : { kind: 'recreate', connection, resource, id },
  );
  const record = (await readRecord(installation, connection, { id })) ?? '';
  return [
    entityWebhook(connection, {
      entity: 'BILL',
      what: operation === 'change' ? 'UPDATED' : 'CREATED',
      record,
    }),
  ];
}
