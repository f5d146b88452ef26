import type { Client } from '@temporalio/client';
import type { Settings } from '../../config/settings.ts';
import { readOwnership } from '../../operations/ownership/read-ownership.ts';
import { readBacklog } from '../../operations/read-backlog.ts';
import { missingSearchAttributes } from '../../operations/search-attributes.ts';
import { connectTemporal } from '../../operations/temporal-client.ts';
import { mainQueue } from '../../temporal/task-queues.ts';
import { backlogInWords, backlogRemedy, isLate } from '../../warehouse/alerts/backlog.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { attempt, finding, warnings, type CheckResult, type Finding } from './finding.ts';

/** Adds a finding for each check of Temporal. If the first shows that it does not answer, there are no others. */
export async function checkTemporal(
  findings: Finding[],
  { warehouse, settings, isEmbedded }: { warehouse: Warehouse; settings: Settings; isEmbedded: boolean },
): Promise<void> {
  const { namespace } = settings.temporal;
  const reached = await attempt(findings, 'Temporal', async () => {
    const client = await connectTemporal(settings);
    await client.workflowService.describeNamespace({ namespace });
    const { serverVersion: version } = await client.workflowService.getSystemInfo({});
    return {
      value: { client, version },
      found: `answers, version ${version === '' ? 'unknown' : version}, namespace ${namespace}`,
    };
  });
  if (reached === undefined) return;
  const { client: temporal, version } = reached;
  try {
    const owned = await attempt(findings, 'owner of the namespace', async () => {
      const { owner, trouble } = await readOwnership({ warehouse, temporal, settings });
      if (trouble !== null) throw new Error(trouble);
      return { value: true, found: owner?.inWords ?? 'nobody yet: the first worker that starts claims it' };
    });
    findings.push(
      await finding('search attributes', () => checkSearchAttributes(temporal, namespace)),
      ...(await warnings('fairness', () => checkFairness(version, { isEmbedded }))),
      await finding('worker', () => checkWorkers(temporal, { namespace, isOurs: owned === true })),
      ...(await warnings('backlog', () => checkBacklog(temporal))),
    );
  } finally {
    await temporal.connection.close();
  }
}

async function checkSearchAttributes(temporal: Client, namespace: string): Promise<string> {
  const missing = await missingSearchAttributes(temporal, namespace);
  if (missing.length === 0) return 'registered';
  const flags = missing.map((name) => `--name ${name} --type Keyword`).join(' ');
  throw new Error(`missing, so runs are harder to find: temporal operator search-attribute create ${flags}`);
}

/** Checks fairness, with which workers take turns among connections. */
export function checkFairness(version: string, { isEmbedded }: { isEmbedded: boolean }): CheckResult {
  return {
    problems: isEmbedded ? [] : [fairnessProblem(version)],
    allWell: 'on: workers take turns among connections',
  };
}

function fairnessProblem(version: string): string {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined || Number(major) * 1_000 + Number(minor) >= 1_029)
    return (
      'the server does not say whether it is on: set matching.enableFairness to true in its dynamic configuration, or in Temporal Cloud switch ' +
      'it on for the namespace'
    );
  return `version ${version} has none, so a large company may hold up small ones: upgrade Temporal to 1.29 or newer`;
}

async function checkWorkers(
  temporal: Client,
  { namespace, isOurs }: { namespace: string; isOurs: boolean },
): Promise<string> {
  const { pollers } = await temporal.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: mainQueue },
  });
  const polling = pollers.filter(({ lastAccessTime }) => isRecent(lastAccessTime)).length;
  if (polling === 0) throw new Error('none is polling: start "daybook worker" or "daybook up"');
  if (!isOurs) throw new Error(`${polling} polling, maybe for another owner: see the owner of the namespace`);
  return `${polling} polling`;
}

/** Temporal lists pollers for minutes after they are gone. A live one polls again within 60 s; the rest allows for clock differences. */
function isRecent(time: { seconds?: { toString(): string } | null } | null | undefined): boolean {
  return Date.now() / 1_000 - Number(time?.seconds ?? 0) < 90;
}

async function checkBacklog(temporal: Client): Promise<CheckResult> {
  const backlog = await readBacklog(temporal);
  if (backlog === undefined)
    return { problems: [], allWell: 'this Temporal server does not report its backlog' };
  const found = backlog.steps === 0 ? 'nothing waits for a worker' : backlogInWords(backlog);
  return { problems: isLate(backlog) ? [`${found}. ${backlogRemedy}`] : [], allWell: found };
}
