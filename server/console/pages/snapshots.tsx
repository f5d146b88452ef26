import { listSnapshots } from '../../../warehouse/snapshots/list-snapshots.ts';
import { readSnapshotStatus } from '../../../warehouse/snapshots/read-snapshot-status.ts';
import { paths } from '../../frame/paths.ts';
import type { ConsoleParts } from '../console-parts.ts';
import type { Page, PageRequest } from '../page.ts';
import { pageLength, pageOf, Pager } from '../views/pager.tsx';
import { SnapshotTable } from '../views/snapshot-table.tsx';

/** The existing snapshots, and the command that compares two of them; comparing reads their files, which takes minutes. */
export async function snapshotsPage({ warehouse }: ConsoleParts, { query, now }: PageRequest): Promise<Page> {
  const before = query.get('before') ?? undefined;
  const [status, read] = await Promise.all([
    readSnapshotStatus(warehouse),
    listSnapshots(warehouse, { before, limit: pageLength + 1 }),
  ]);
  const { shown, last } = pageOf(read);
  const [newer, older] = shown;
  return {
    title: 'Snapshots',
    changing: status.status === 'running',
    content: (
      <>
        <h1>Snapshots</h1>
        <p class="lead">
          What each one added was written for it; the rest it shares with those before it.
          {newer === undefined || older === undefined ? null : (
            <>
              {' '}
              Which connections and tables moved between two says{' '}
              <code>{`npx daybook snapshots diff ${older.snapshot_id} ${newer.snapshot_id}`}</code>.
            </>
          )}
        </p>
        <SnapshotTable snapshots={shown} latest={status.snapshot_id} now={now} />
        <Pager
          newest={before === undefined ? undefined : paths.snapshots()}
          older={last === undefined ? undefined : paths.snapshots({ before: last.snapshot_id })}
        />
      </>
    ),
  };
}
