import { compareWithSource } from '../support/compare-with-source.ts';
import type { Deed } from './deed.ts';
import { judgeRequests } from './judge-requests.ts';
import { judgeRuns } from './judge-runs.ts';
import { judgeTombstones } from './judge-tombstones.ts';
import { judgeWebhooks } from './judge-webhooks.ts';
import { connections, requestsPer10s, type Company } from './open-company.ts';

/** Judges the product's promises after a day. Returns the broken ones, in sentences. */
export async function judgeDay(company: Company, deeds: readonly Deed[]): Promise<string[]> {
  const { admin, databaseUrl } = company;
  const complaints = judgeRequests(await admin.requests(), { requestsPer10s });
  for (const connectionId of connections) {
    const { differences } = await compareWithSource({ databaseUrl, admin, connectionId });
    complaints.push(...differences.map((difference) => `${connectionId}: ${difference}.`));
  }
  complaints.push(...(await judgeTombstones(company, deeds)));
  complaints.push(...(await judgeRuns(company, deeds)));
  complaints.push(...(await judgeWebhooks(company)));
  return complaints;
}
