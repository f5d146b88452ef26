import { describe, expect, test } from 'vitest';
import { answerGoneAfter } from '../replication/answer-gone-after.ts';
import type { ScriptedService } from '../replication/scripted-service.ts';
import { createServiceStarter } from '../replication/serve.ts';
import { bill } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

describe('a record re-created while a response that it is gone is in flight', () => {
  test('is quarantined if its new version is invalid', async () => {
    const again = bill('a', { total_amount: '"much"', last_synced_at: stamp(-2_000) });
    const service = await recreateInFlight(bill('a'), again, async (made) => {
      expect((await made.sync(['bills'])).status).toBe('partial');
      expect(await open(made)).toEqual([{ record_id: 'a' }]);
    });
    await service.reconcile(['bills']);
    await service.sync(['bills']);
    expect(await open(service)).toEqual([{ record_id: 'a' }]);
  });

  test('is kept if its version is older than one from a wrong clock', async () => {
    const first = bill('a', { last_synced_at: stamp(3_600_000) });
    const again = bill('a', { memo: '"again"', last_synced_at: stamp(-2_000) });
    const service = await recreateInFlight(first, again, async (made) => {
      expect((await made.sync(['bills'])).status).toBe('succeeded');
    });
    expect((await service.reconcile(['bills'])).status).toBe('partial');
    expect(await service.ids('bills')).toEqual(['a', 'b', 'c']);
  });
});

/** Bill a has landed and is gone. While the response to the next fetch is in flight, a is re-created, and `meet` reads it. */
async function recreateInFlight(
  first: string,
  again: string,
  meet: (service: ScriptedService) => Promise<void>,
): Promise<ScriptedService> {
  const service = await serve();
  const others = [bill('b'), bill('c')];
  service.lists = { bills: [first, ...others] };
  await service.sync(['bills']);
  service.lists.bills = others;
  answerGoneAfter(service, new Date(Date.now() - 5_000), async () => {
    service.lists.bills = [...others, again];
    await meet(service);
  });
  return service;
}

function open(service: ScriptedService): Promise<unknown[]> {
  return service.rows(`select record_id from sync.quarantine where connection_id = $1 and status = 'open'`);
}

function stamp(milliseconds: number): string {
  return `"${new Date(Date.now() + milliseconds).toISOString()}"`;
}
