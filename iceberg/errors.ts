import { LakeAltered, LakeRefused, SnapshotDamaged } from '../lake/errors.ts';
import { ForeignFolder, PythonMissing, PythonPackagesMissing } from '../python/errors.ts';

/** The snapshot is published, but its Iceberg tables are incomplete: readers by tag still see the complete ones. Thrown after a few retries. */
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

/** An erasure could not search Iceberg tables that may hold the record. A person is needed. */
export class IcebergUnsearched extends Error {
  override readonly name = 'IcebergUnsearched';
  readonly handling = 'stop';

  constructor(location: string, cause: Error) {
    const why =
      cause instanceof IcebergFailed
        ? `their program failed (${cause.reason}). If it does so again, delete all files below iceberg in the lake ${location} while no export ` +
          'runs: the command recreates the tables.'
        : cause.message;
    super(`The Iceberg tables may still hold it: ${why}`, { cause });
  }
}

/** An erasure has not searched the lake that the catalog names for readers of Iceberg tables. */
export class TablesElsewhere extends Error {
  override readonly name = 'TablesElsewhere';
  readonly handling = 'stop';

  constructor(place: string) {
    super(
      `The Iceberg tables in ${place}, which the catalog leads to, were not searched and may hold the record. Run the command there too, with DAYBOOK_LAKE=${place}. ` +
        'If that location no longer exists, run "daybook export --iceberg" with the lake in use, then this command again.',
    );
  }
}

/** An erasure has found files of Iceberg tables in a lake without any sign that it is Daybook's. */
export class TablesUnknown extends Error {
  override readonly name = 'TablesUnknown';
  readonly handling = 'stop';

  constructor(place: string, namespace: string) {
    super(
      `The files below iceberg/${namespace} of the lake ${place} were not searched. The catalog does not lead there, and Daybook has published no snapshot there, ` +
        'so anybody may own them. Check DAYBOOK_LAKE; if they belong to a lake that was moved, remove them.',
    );
  }
}

/** Whether an error keeps Iceberg tables from showing the snapshots, but prevents nothing else. */
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

/** Lists the snapshots that are not shown, in a sentence: the newest and all others are. */
export function leftOut(snapshotIds: readonly string[]): string {
  const more = snapshotIds.length > 5 ? ` and ${snapshotIds.length - 5} more` : '';
  return (
    `The Iceberg tables do not show ${snapshotIds.slice(0, 5).join(', ')}${more}: files there are damaged, missing, may not be read or are not Parquet, ` +
    'or have other types than the newest, or times beyond the year 9999, which older releases wrote. ' +
    'Check them with "daybook snapshots verify", and restore what is damaged; a snapshot that Daybook did not make can be removed.'
  );
}
