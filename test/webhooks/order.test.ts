import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import { isProof } from '../support/proof-test.ts';
import { recordOf, idsOf, syncedCompany, urlOf, appliedInbox } from './company.ts';
import { entityWebhook, send } from './webhook.ts';

const installation = await createInstallation();
const { admin } = installation;
const url = urlOf(await installation.startWorker());

type Deed = 'change' | 'delete' | 'recreate';

test('webhooks in any order, at any time and doubled leave the warehouse equal to the service', async () => {
  const plans = fc.sample(
    fc.record({
      deeds: fc.array(fc.constantFrom<Deed>('change', 'delete', 'recreate'), { minLength: 3, maxLength: 6 }),
      // The places in the order at which each webhook is sent, once or twice, and the one after which the test waits for all.
      places: fc.array(fc.nat(9), { minLength: 12, maxLength: 12 }),
      pauseAfter: fc.nat(11),
    }),
    { numRuns: isProof ? 6 : 2, seed: 20_261_123 },
  );
  for (const { deeds, places, pauseAfter } of plans) {
    const connection = await syncedCompany(installation, { records: 30 });
    const [id = ''] = await idsOf(installation, connection);
    const bodies: string[] = [];
    for (const [number, deed] of deeds.entries())
      bodies.push(...(await act(connection, { id, deed, number })));
    const order = [...bodies, ...bodies]
      .map((body, index) => ({ body, place: places[index % places.length] ?? 0 }))
      .sort((a, b) => a.place - b.place);
    for (const [index, { body }] of order.entries()) {
      expect(await send(url, body)).toBe(200);
      if (index === pauseAfter) await appliedInbox(installation, connection);
    }
    if (order.length > 0) await appliedInbox(installation, connection);
    const { differences } = await installation.compare(connection);
    expect(differences, `${deeds.join(', ')} as ${places.join(' ')}, pause after ${pauseAfter}`).toEqual([]);
  }
});

/** Does the deed at the source if possible, and returns its webhook. */
async function act(
  connection: string,
  { id, deed, number }: { id: string; deed: Deed; number: number },
): Promise<string[]> {
  const resource = 'bills' as const;
  const before = await recordOf(installation, connection, { id });
  if ((before === undefined) !== (deed === 'recreate')) return [];
  if (deed === 'delete') {
    await admin.execute({ kind: 'delete', connection, resource, id, event: false });
    return [entityWebhook(connection, { entity: 'BILL', what: 'DELETED', record: before ?? '' })];
  }
  await admin.execute(
    deed === 'change'
      ? { kind: 'change', connection, resource, id, patch: JSON.stringify({ memo: `number ${number}` }) }
      : { kind: 'recreate', connection, resource, id },
  );
  const record = (await recordOf(installation, connection, { id })) ?? '';
  return [
    entityWebhook(connection, { entity: 'BILL', what: deed === 'change' ? 'UPDATED' : 'CREATED', record }),
  ];
}
