import { beforeEach } from 'vitest';
import { createInstallation, type Installation } from '../support/installation.ts';
import { pathWithoutPython } from '../support/path-without-python.ts';
import { otherScenarios } from './other-scenarios.ts';
import { reconcileScenarios } from './reconcile-scenarios.ts';
import type { Scenario } from './scenario.ts';
import { syncScenarios } from './sync-scenarios.ts';

/** An installation with a worker, and all scenarios to run in it, for the test file that calls this at its top. */
export async function openReruns(
  options: { temporalAddress?: string } = {},
): Promise<{ installation: Installation; scenarios: readonly Scenario[] }> {
  const installation = await createInstallation(options);
  const worker = await installation.startWorker(await pathWithoutPython(installation.cwd));
  beforeEach(async () => {
    await installation.admin.configure({ maximumLimit: 20 });
  });
  const scenarios = [...syncScenarios(), ...reconcileScenarios(), ...otherScenarios(worker)];
  return { installation, scenarios };
}
