import { ApplicationFailure } from '@temporalio/common';
import { addConnection } from '../../../warehouse/connections/add-connection.ts';
import { removeConnection } from '../../../warehouse/connections/remove-connection.ts';
import { UnknownConnection } from '../../../warehouse/errors.ts';
import { secretKey } from '../../simulation/create-dependencies.ts';
import { bill } from '../../support/finance-records.ts';
import { rebuildBills, replayOne } from '../as-commands.ts';
import { at, type ScriptedService } from '../scripted-service.ts';
import { longAgo, old, runStatus, type Scenario } from './scenario.ts';

/** Scenarios that a person or a webhook causes. */
export const commands: readonly Scenario[] = [
  {
    name: 'webhooks',
    expectedStatus: 'succeeded',
    resources: ['bills'],
    repairedBy: 'syncs',
    async prepare(service: ScriptedService): Promise<void> {
      service.lists = { bills: old('a', 'b', 'c') };
      await service.sync(['bills']);
      const edited = bill('a', { memo: '"new"', last_synced_at: at(-3_000) });
      const created = bill('d', { last_synced_at: at(-1_000) });
      service.lists.bills = [edited, ...old('c'), created];
      await service.storeWebhook('UPDATED', edited);
      await service.storeWebhook('DELETED', bill('b', { last_synced_at: at(longAgo) }));
      await service.storeWebhook('CREATED', created);
    },
    async run(service: ScriptedService): Promise<string> {
      return runAndReadStatus(service, 'webhook', () => service.applyWebhooks());
    },
  },
  {
    name: 'a replay from quarantine',
    expectedStatus: 'succeeded',
    resources: ['bills'],
    repairedBy: 'the same again',
    async prepare(service: ScriptedService): Promise<void> {
      const bad = bill('b', { total_amount: '"much"', last_synced_at: at(longAgo) });
      service.lists = { bills: [...old('a'), bad] };
      await service.sync(['bills']);
      service.lists.bills = old('a', 'b');
    },
    run: (service) => runAndReadStatus(service, 'replay', () => replayOne(service.warehouse, service)),
  },
  {
    name: 'a rebuild',
    expectedStatus: 'succeeded',
    resources: ['bills'],
    repairedBy: 'the same again',
    async prepare(service: ScriptedService): Promise<void> {
      service.lists = { bills: old('a', 'b', 'c') };
      await service.sync(['bills']);
      await service.rows(`delete from finance.bills where connection_id = $1 and id = 'b'`);
    },
    run: (service) => runAndReadStatus(service, 'rebuild', () => rebuildBills(service.warehouse, service)),
  },
  {
    name: 'a connection that is removed, but for its data, and added again',
    expectedStatus: 'succeeded',
    resources: ['bills'],
    repairedBy: 'the same again',
    async prepare(service: ScriptedService): Promise<void> {
      service.lists = { bills: old('a', 'b', 'c') };
      await service.sync(['bills']);
      const edited = bill('c', { memo: '"edited"', last_synced_at: at(longAgo + 1_000) });
      service.lists.bills = [...old('a'), edited, bill('d', { last_synced_at: at(-1_000) })];
    },
    run: (service) => removeAndAdd(service).catch(refused),
  },
];

/** The status of the run that a command makes. A failed command reports nothing else. */
async function runAndReadStatus(
  service: ScriptedService,
  kind: string,
  command: () => Promise<void>,
): Promise<string> {
  const error: unknown = await command().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const [run] = await service.rows(
    `select status from sync.runs where connection_id = $1 and kind = '${kind}' order by started_at desc limit 1`,
  );
  return error === undefined || run?.status !== 'succeeded' ? runStatus(run ?? {}) : 'failed';
}

/** Removes a connection and adds it again. After a refusal it starts over. */
async function removeAndAdd(service: ScriptedService): Promise<string> {
  const { warehouse, connection: connectionId, url: apiAddress } = service;
  const token = `token-${connectionId}`;
  await removeConnection(warehouse, { connectionId, keepData: true }).catch((error: unknown) => {
    // Removed already.
    if (!(error instanceof UnknownConnection)) throw error;
  });
  const added = { connectionId, apiAddress, token, expandPlatformData: false };
  await addConnection(warehouse, secretKey, added);
  await service.sync(['bills']);
  return runStatus(await service.reconcile(['bills']));
}

/** Recognizes a refusal before any work, because the connection exists, or does not, as the previous command left it. */
function refused(error: unknown): string {
  const name = error instanceof ApplicationFailure ? error.type : error instanceof Error ? error.name : '';
  if (!refusals.includes(name ?? '')) throw error;
  return 'refused';
}

const refusals = ['CommitsLost', 'ConnectionBeingRemoved', 'ConnectionExists', 'UnknownConnection'];
