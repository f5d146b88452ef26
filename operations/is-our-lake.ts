import type { ClientBase } from 'pg';
import type { Lake } from '../lake/lake.ts';
import { hasPublishedIn } from '../warehouse/snapshots/unsearched-snapshots.ts';

/** Whether Daybook has published snapshots in a lake that no other warehouse owns: files with our names there are then ours. */
export async function isOurLake(client: Pick<ClientBase, 'query'>, lake: Lake): Promise<boolean> {
  return (await lake.snapshotIds()).length > 0 || hasPublishedIn(client, lake.location);
}
