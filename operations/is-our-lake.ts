import type { ClientBase } from 'pg';
import type { Lake } from '../lake/lake.ts';
import { hasPublishedIn } from '../warehouse/snapshots/unsearched-snapshots.ts';

/** Whether Daybook has published snapshots in a lake, which is not another warehouse's: what is there by names of ours is ours then. */
export async function isOurLake(client: Pick<ClientBase, 'query'>, lake: Lake): Promise<boolean> {
  return (await lake.snapshotIds()).length > 0 || hasPublishedIn(client, lake.location);
}
