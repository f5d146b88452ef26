import type { Lake } from '../../lake/lake.ts';
import { lookAtManifest, lookAtPointer } from '../../lake/manifest/pointer.ts';
import { isAhead } from '../../warehouse/snapshots/is-ahead.ts';
import type { ExportSession } from '../../warehouse/snapshots/open-snapshot.ts';

/**
 * Why readers are not sent to the current rows, in a sentence: the clock of Postgres was ahead when their rows were read. Undefined if they
 * see newer ones.
 */
export async function findClockProblem({
  session,
  lake,
}: {
  session: ExportSession;
  lake: Lake;
}): Promise<string | undefined> {
  const named = (await lookAtPointer(lake))?.value?.snapshot_id;
  const manifest = named === undefined ? undefined : (await lookAtManifest(lake, named))?.value;
  if (manifest === undefined || !(await isAhead(session.client, manifest.taken_at))) return undefined;
  const { snapshot_id: id, taken_at: takenAt } = manifest;
  return (
    `Readers stay with the older rows of snapshot ${id}, because its time (${takenAt}) is ahead of the clock of Postgres. Check that clock. The first ` +
    'export after that time leads readers to new rows. To do so at once, remove ' +
    `snapshots/${id} from the lake while no export runs, run "daybook export", and then "daybook snapshots forget" with the place of the lake.`
  );
}
