import {
  replayQuarantine as replay,
  type ReplayedEntry,
  type ReplayInput,
} from '../activities/replay-quarantine.ts';
import { createApiClient } from '../source/api-client.ts';
import { openApiBudget } from '../warehouse/api-budget.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { Settings } from '../config/settings.ts';

export type { ReplayedEntry } from '../activities/replay-quarantine.ts';

/** Replays entries of the quarantine with an API client made for it: a command and the console run no worker. */
export async function* replayQuarantine(
  settings: Settings,
  warehouse: Warehouse,
  input: ReplayInput,
): AsyncGenerator<ReplayedEntry> {
  const { api: service, secretKey } = settings;
  const budget = openApiBudget(warehouse, { apiAddress: service.address, ...service });
  const api = createApiClient({ ...service, baseUrl: service.url, budget });
  try {
    yield* replay({ warehouse, api, apiAddress: service.address, secretKey }, input);
  } finally {
    await api.close();
  }
}
