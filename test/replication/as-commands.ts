import { askForRecords } from '../../requests/ask-for-records.ts';
import { createCompanyProof } from '../../requests/company-proof.ts';
import { rebuildConnection } from '../../operations/rebuild-connection.ts';
import { replayEntry } from '../../operations/replay-entry.ts';
import { withRun } from '../../operations/with-run.ts';
import { resourceNamed } from '../../resources/index.ts';
import type { Resource } from '../../resources/resource.ts';
import { readAccess } from '../../warehouse/connections/read-access.ts';
import { eraseRecord } from '../../warehouse/erase/erase-record.ts';
import { readHeld } from '../../warehouse/landing/read-held.ts';
import { heldIds } from '../../warehouse/landing/held-ids.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { listQuarantine } from '../../warehouse/quarantine/read-quarantine.ts';
import { secretKey } from '../simulation/create-dependencies.ts';
import type { ScriptedService } from './scripted-service.ts';

/** Replays the only entry of the connection, over `warehouse`, as "daybook quarantine replay" does. */
export async function replayOne(warehouse: Warehouse, service: ScriptedService): Promise<void> {
  const { connection: connectionId, url } = service;
  const [entry] = await listQuarantine(service.warehouse, { all: false, connectionId });
  if (entry === undefined) throw new Error('Nothing waits.');
  const resource = resourceNamed(entry.resource);
  const api = service.createApi();
  const readKey = (): Promise<Buffer> => Promise.resolve(secretKey);
  const access = await readAccess(service.warehouse, readKey, { connectionId, apiAddress: url });
  const about = { connectionId, kind: 'replay', reason: 'test', streams: [entry.stream] } as const;
  try {
    await withRun(service.warehouse, about, async (run) => {
      const { runId } = run;
      const proof = createCompanyProof(service, { connectionId, runId, access, api });
      const readAlive = (): Promise<string[]> => heldIds(service.warehouse, { connectionId, resource });
      const asking = askForRecords({ api, resource, accessToken: access.token, readAlive });
      run.noteCounted(
        entry.stream,
        await replayEntry(warehouse, { entry, resource, runId, proof, ...asking }),
      );
    });
  } finally {
    await api.close();
  }
}

/** Rebuilds the bills of the connection, over `warehouse`, as "daybook rebuild" does. */
export async function rebuildBills(
  warehouse: Warehouse,
  { connection: connectionId }: ScriptedService,
): Promise<void> {
  const resources = [resourceNamed('bills')];
  await rebuildConnection(warehouse, { connectionId, resources, onBatch: () => undefined });
}

/** Erases a record that the source no longer has, over `warehouse`, as "daybook erase" does, but only from the tables. */
export async function erase(
  warehouse: Warehouse,
  { connection: connectionId, warehouse: undisturbed }: ScriptedService,
  { resource, id }: { resource: Resource; id: string },
): Promise<void> {
  const record = { connectionId, resource, id };
  const streams = [resource.streams[0].name];
  const about = { connectionId, kind: 'erase', reason: 'test', streams } as const;
  await withRun(undisturbed, about, async (run) => {
    const { runId } = run;
    const heldBefore = await readHeld(undisturbed.pool, record);
    const { counts } = await eraseRecord(warehouse, { ...record, runId, goneAt: new Date(), heldBefore });
    run.noteCounted(streams[0] ?? '', counts);
  });
}
