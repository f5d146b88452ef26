import { LakeAltered, LakeRefused, SnapshotDamaged } from '../lake/errors.ts';
import { ForeignFolder, PythonMissing, PythonPackagesMissing } from '../python/errors.ts';

/** The snapshot is published, its Iceberg tables are not complete: readers by tag still see those that are. Tried a few times already. */
export class IcebergFailed extends Error {
  override readonly name = 'IcebergFailed';
  readonly handling = 'stop';
  readonly reason: string;

  constructor(reason: string) {
    super(
      `The Iceberg tables do not show every snapshot (${reason}). The snapshots themselves are published, and the next export tries to complete ` +
        'the tables.',
    );
    this.reason = reason;
  }
}

/** An erasure could not remove from Iceberg tables what they may hold. A person is needed. */
export class IcebergUnsearched extends Error {
  override readonly name = 'IcebergUnsearched';
  readonly handling = 'stop';

  constructor(location: string, cause: Error) {
    const why =
      cause instanceof IcebergFailed
        ? `their program failed (${cause.reason}). If it does so again, delete all files below iceberg in the lake ${location} while no export ` +
          'runs: the command makes the tables anew.'
        : cause.message;
    super(`The Iceberg tables may still hold it: ${why}`, { cause });
  }
}

/** An erasure has not searched the lake that readers of Iceberg tables are led to. */
export class TablesElsewhere extends Error {
  override readonly name = 'TablesElsewhere';
  readonly handling = 'stop';

  constructor(place: string) {
    super(
      `Not searched, and may hold it: Iceberg tables in ${place}, which the catalog leads to. Run the command there too, with DAYBOOK_LAKE=${place}. ` +
        'If that place is no more, run "daybook export --iceberg" with the lake in use, and the command again.',
    );
  }
}

/** An erasure has found files of Iceberg tables in a lake of which nothing says that it is Daybook's. */
export class TablesUnknown extends Error {
  override readonly name = 'TablesUnknown';
  readonly handling = 'stop';

  constructor(place: string, namespace: string) {
    super(
      `Not searched: the files below iceberg/${namespace} of the lake ${place}. The catalog does not lead there, and Daybook has published no snapshot there, ` +
        'so they may be anybody’s. Check DAYBOOK_LAKE; if they are of a lake that was moved, remove them.',
    );
  }
}

/** What keeps Iceberg tables from being brought to the snapshots, and nothing else from being done. */
export function isInTheWayOfIceberg(error: unknown): error is Error {
  return [
    IcebergFailed,
    PythonMissing,
    PythonPackagesMissing,
    ForeignFolder,
    LakeAltered,
    LakeRefused,
    SnapshotDamaged,
  ].some((kind) => error instanceof kind);
}

/** In a sentence: the newest snapshot and all others are shown. */
export function leftOut(snapshotIds: readonly string[]): string {
  const more = snapshotIds.length > 5 ? ` and ${snapshotIds.length - 5} more` : '';
  return (
    `The Iceberg tables do not show ${snapshotIds.slice(0, 5).join(', ')}${more}: what the lake has of it is no Parquet, of other types than the newest, ` +
    'or has times beyond the year 9999, which older releases wrote. ' +
    'Check it with "daybook snapshots verify"; one that Daybook has not made can be removed.'
  );
}
