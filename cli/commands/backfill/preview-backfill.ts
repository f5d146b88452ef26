import { readAccess } from '../../../warehouse/connections/read-access.ts';
import type { BackfillPlan } from '../../../warehouse/passes/backfill-plan.ts';
import { estimateBackfill, type BackfillEstimate } from '../../../warehouse/passes/estimate-backfill.ts';
import { print, printJson, printTable } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';

/** Shows what a backfill would read. */
export async function previewBackfill(input: {
  connection: string;
  plan: BackfillPlan;
  json: boolean;
}): Promise<void> {
  const { connection: connectionId, plan, json } = input;
  const estimate = await withWarehouse(
    async (warehouse, { secretKey, api }) => {
      await readAccess(warehouse, secretKey, { connectionId, apiAddress: api.address });
      return estimateBackfill(warehouse, { connectionId, plan });
    },
    ['database', 'api'],
  );
  const requests = estimate.streams.reduce((sum, stream) => sum + stream.requests, 0);
  if (json) {
    printJson({
      connection_id: connectionId,
      from: plan.from,
      to: plan.to,
      window_seconds: plan.windowMilliseconds / 1000,
      ...estimate,
      requests,
    });
    return;
  }
  printTable(
    ['stream', 'windows', 'requests'],
    estimate.streams.map((stream) => [stream.stream, stream.windows, stream.requests]),
  );
  print('');
  for (const sentence of describeEstimate(estimate, requests)) print(sentence);
}

function describeEstimate({ resumes, unsupported }: BackfillEstimate, requests: number): string[] {
  return [
    ...(resumes ? ['These windows are left over from an unfinished run of this backfill.'] : []),
    `About ${requests.toLocaleString('en-US')} requests, an estimate from what the warehouse holds.`,
    ...(unsupported.length > 0
      ? [`Left out, since the service does not offer them here: ${unsupported.join(', ')}.`]
      : []),
    'Records without updated_at are in no window: "daybook reconcile" reads them.',
  ];
}
