import { describe, expect, test } from 'vitest';
import type { ScriptedService } from '../replication/scripted-service.ts';
import { servicesOf } from '../replication/serve.ts';
import { bill } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();
const serve = servicesOf(warehouse);

const gone = { status: 410, body: '{"error_code":"GONE"}' };

describe('a record that is made again while the answer that it is gone is in hand', () => {
  test('in a form that cannot be landed, waits in quarantine', async () => {
    const service = await serve();
    service.lists = { bills: [bill('a'), bill('b'), bill('c')] };
    await service.sync(['bills']);
    service.lists.bills = [bill('b'), bill('c')];
    answerGone(service, async () => {
      service.lists.bills = [
        bill('b'),
        bill('c'),
        bill('a', { total_amount: '"much"', last_synced_at: stamp(-2_000) }),
      ];
      expect((await service.sync(['bills'])).status).toBe('partial');
      expect(await open(service)).toEqual([{ record_id: 'a' }]);
    });
    await service.reconcile(['bills']);
    await service.sync(['bills']);
    expect(await open(service)).toEqual([{ record_id: 'a' }]);
  });

  test('under an older version than the one that a wrong clock gave, stays', async () => {
    const service = await serve();
    service.lists = { bills: [bill('a', { last_synced_at: stamp(3_600_000) }), bill('b'), bill('c')] };
    await service.sync(['bills']);
    service.lists.bills = [bill('b'), bill('c')];
    answerGone(service, async () => {
      service.lists.bills = [
        bill('b'),
        bill('c'),
        bill('a', { memo: '"again"', last_synced_at: stamp(-2_000) }),
      ];
      expect((await service.sync(['bills'])).status).toBe('succeeded');
    });
    expect((await service.reconcile(['bills'])).status).toBe('partial');
    expect(await service.ids('bills')).toEqual(['a', 'b', 'c']);
  });
});

/** The next fetch is answered so, after what happens meanwhile. */
function answerGone(service: ScriptedService, meanwhile: () => Promise<void>): void {
  service.onFetch = async (_resource, id) => {
    if (id !== 'a') return undefined;
    service.onFetch = () => undefined;
    const servedAt = new Date(Date.now() - 5_000);
    await meanwhile();
    service.date = () => {
      service.date = () => new Date();
      return servedAt;
    };
    return gone;
  };
}

function open(service: ScriptedService): Promise<unknown[]> {
  return service.rows(`select record_id from sync.quarantine where connection_id = $1 and status = 'open'`);
}

function stamp(milliseconds: number): string {
  return `"${new Date(Date.now() + milliseconds).toISOString()}"`;
}
