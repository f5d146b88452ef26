import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import { ScriptedService } from '../scripted-service.ts';
import { differences } from './differences.ts';
import { failingOver, type Takeover } from './failing-over.ts';
import { giveUpAfter } from './give-up-after.ts';
import type { Scenario } from './scenario.ts';
import type { Standby } from './standby.ts';

/** The outcome of a scenario. */
export interface Outcome {
  readonly commits: readonly string[];
  readonly hasTakenOver: boolean;
  readonly status: string;
  /** Whether a reconcile was wanted before the run, and after it. */
  readonly wanted: { readonly before: boolean; readonly after: boolean };
  /** The differences of the tables from the source. */
  readonly differences: {
    readonly afterRun: readonly string[];
    /** After the same run once more, if the scenario needs that, two more syncs, the webhooks, and the wanted reconciles. */
    readonly atEnd: readonly string[];
  };
}

/** Plays a scenario, with or without a takeover. */
export async function play(
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
    const over = await failingOver(warehouse, {
      standby,
      connectionId,
      ...(takeover === undefined ? {} : { takeover }),
    });
    service.warehouse = over.warehouse;
    const status = await act(scenario, service);
    service.warehouse = warehouse;
    const { commits } = over;
    const hasTakenOver = over.hasTakenOver();
    const afterRun = await differences(service, resources);
    const wanted = { before, after: await service.isReconcileWanted() };
    if (status !== 'succeeded' && repairedBy === 'the same again') await act(scenario, service);
    await continueUsually(service, resources);
    const atEnd = await differences(service, resources);
    return { commits, hasTakenOver, status, wanted, differences: { afterRun, atEnd } };
  } finally {
    service.stop();
  }
}

async function act(scenario: Scenario, service: ScriptedService): Promise<string> {
  try {
    return await giveUpAfter(30_000, 'does not end', scenario.act(service));
  } catch (error) {
    return String(error);
  }
}

/** Runs what comes anyway. */
async function continueUsually(service: ScriptedService, resources: readonly string[]): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    await service.sync(resources);
    await service.applyWebhooks();
    if (await service.isReconcileWanted()) await service.reconcile(resources);
  }
}
