import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import { ScriptedService } from '../scripted-service.ts';
import { differences } from './differences.ts';
import { openFailoverWarehouse, type Takeover } from './failover-warehouse.ts';
import { giveUpAfter } from './give-up-after.ts';
import type { Scenario } from './scenario.ts';
import type { Standby } from './standby.ts';

/** The outcome of a scenario. */
export interface Outcome {
  readonly commits: readonly string[];
  readonly hasTakenOver: boolean;
  readonly status: string;
  /** Whether a reconcile was wanted before the run, and after it. */
  readonly reconcileWanted: { readonly before: boolean; readonly after: boolean };
  /** The differences of the tables from the source. */
  readonly differences: {
    readonly afterRun: readonly string[];
    /** After the same run once more, if the scenario needs that, two more syncs, the webhooks, and the wanted reconciles. */
    readonly atEnd: readonly string[];
  };
}

/** Runs a scenario, with or without a takeover. */
export async function runScenario(
  scenario: Scenario,
  { warehouse, standby, takeover }: { warehouse: Warehouse; standby: Standby; takeover?: Takeover },
): Promise<Outcome> {
  const { resources, repairedBy } = scenario;
  const service = await new ScriptedService(warehouse).start();
  service.longestWaitMilliseconds = 20;
  try {
    await scenario.prepare(service);
    const before = await service.isReconcileWanted();
    const { connection: connectionId } = service;
    const over = await openFailoverWarehouse(warehouse, {
      standby,
      connectionId,
      ...(takeover === undefined ? {} : { takeover }),
    });
    service.warehouse = over.warehouse;
    const status = await runWithTimeout(scenario, service);
    service.warehouse = warehouse;
    const { commits } = over;
    const hasTakenOver = over.hasTakenOver();
    const afterRun = await differences(service, resources);
    const wanted = { before, after: await service.isReconcileWanted() };
    if (status !== 'succeeded' && repairedBy === 'the same again') await runWithTimeout(scenario, service);
    await runRoutineWork(service, resources);
    const atEnd = await differences(service, resources);
    return { commits, hasTakenOver, status, reconcileWanted: wanted, differences: { afterRun, atEnd } };
  } finally {
    service.stop();
  }
}

async function runWithTimeout(scenario: Scenario, service: ScriptedService): Promise<string> {
  try {
    return await giveUpAfter(30_000, 'does not end', scenario.run(service));
  } catch (error) {
    return String(error);
  }
}

/** Runs the work that is scheduled anyway: syncs, webhooks, and requested reconciles. */
async function runRoutineWork(service: ScriptedService, resources: readonly string[]): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    await service.sync(resources);
    await service.applyWebhooks();
    if (await service.isReconcileWanted()) await service.reconcile(resources);
  }
}
