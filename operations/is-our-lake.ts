import type { ClientBase } from 'pg';
import type { Lake } from '../lake/lake.ts';
import { hasPublishedIn } from '../warehouse/snapshots/unsearched-snapshots.ts';

/** Whether Daybook has published snapshots in a lake, which no other warehouse owns: then files with our names there are ours. */
export async function isOurLake(client: Pick<ClientBase, 'query'>, lake: Lake): Promise<boolean> {
  return (await lake.snapshotIds()).length > 0 || hasPublishedIn(client, lake.location);
}
