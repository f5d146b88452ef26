import { compareWithSource } from '../support/compare-with-source.ts';
import type { SourceOperation } from './source-operation.ts';
import { judgeRequests } from './judge-requests.ts';
import { judgeRuns } from './judge-runs.ts';
import { judgeTombstones } from './judge-tombstones.ts';
import { judgeWebhooks } from './judge-webhooks.ts';
import { connections, requestsPer10s, type DayEnvironment } from './open-day-environment.ts';

/** Judges the product's promises after a day. Returns the broken ones, in sentences. */
export async function judgeDay(
  environment: DayEnvironment,
  operations: readonly SourceOperation[],
): Promise<string[]> {
  const { admin, databaseUrl } = environment;
  const complaints = judgeRequests(await admin.requests(), { requestsPer10s });
  for (const connectionId of connections) {
    const { differences } = await compareWithSource({ databaseUrl, admin, connectionId });
    complaints.push(...differences.map((difference) => `${connectionId}: ${difference}.`));
  }
  complaints.push(...(await judgeTombstones(environment, operations)));
  complaints.push(...(await judgeRuns(environment, operations)));
  complaints.push(...(await judgeWebhooks(environment)));
  return complaints;
}
