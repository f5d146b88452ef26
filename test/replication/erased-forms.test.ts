import { describe, expect, test } from 'vitest';
import { resourceNamed } from '../../resources/index.ts';
import { customer, subscription } from '../support/finance-records.ts';
import { overSessions } from '../support/over-sessions.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { erase, replayOne } from './as-commands.ts';
import { page, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';
import { beginStatement } from '../../warehouse/transactions/in-transaction.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

const formsWithoutVersion = {
  subscriptions: subscription('s', { updated_at: undefined, platform_customer_id: '"Jane Doe"' }),
  customers: customer('s', { last_synced_at: undefined, name: '"Jane Doe"' }),
};

describe('a quarantined record without a version, once erased,', () => {
  test('is not restored by a replay that has already read it', async () => {
    const service = await serveQuarantined('subscriptions');
    let isErased = false;
    const erasing = overSessions(warehouse, (client) => ({
      async query(...given: [string]) {
        if (given[0] === beginStatement && !isErased) {
          isErased = true;
          await eraseRecord(service, 'subscriptions');
        }
        return client.query(...given);
      },
    }));
    await replayOne(erasing, service);
    expect(isErased).toBe(true);
    expect(await readEntries(service)).toEqual([]);
  });

  test.each(['subscriptions', 'customers'] as const)(
    'is not restored by a page of %s in flight',
    async (name) => {
      const service = await serveQuarantined(name);
      service.onList = async (resource) => {
        if (resource !== name) return undefined;
        const inFlight = page(service, name, service.lists[name] ?? []);
        service.lists[name] = [];
        await eraseRecord(service, name);
        service.onList = () => undefined;
        return inFlight;
      };
      await service.sync([name]);
      expect(await readEntries(service)).toEqual([]);
    },
  );

  test('is quarantined again when it is re-created at the source', async () => {
    const service = await serveQuarantined('customers');
    const again = service.lists.customers ?? [];
    service.lists.customers = [];
    await eraseRecord(service, 'customers');
    service.lists.customers = again;
    await service.sync(['customers']);
    expect(await readEntries(service)).toEqual([{ record_id: 's' }]);
  });
});

async function serveQuarantined(name: keyof typeof formsWithoutVersion): Promise<ScriptedService> {
  const service = await serve();
  service.lists = { [name]: [formsWithoutVersion[name]] };
  await service.sync([name]);
  expect(await readEntries(service)).toEqual([{ record_id: 's' }]);
  return service;
}

function eraseRecord(service: ScriptedService, name: string): Promise<void> {
  return erase(warehouse, service, { resource: resourceNamed(name), id: 's' });
}

function readEntries(service: ScriptedService): Promise<Record<string, unknown>[]> {
  return service.rows(
    `select record_id from sync.quarantine where connection_id = $1 and (status = 'open' or payload <> '')`,
  );
}
