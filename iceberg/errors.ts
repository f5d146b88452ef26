/** The snapshot is published, its Iceberg tables are not complete: readers by tag still see those that are. Tried a few times already. */
export class IcebergFailed extends Error {
  override readonly name = 'IcebergFailed';
  readonly handling = 'stop';

  constructor(reason: string) {
    super(
      `The Iceberg tables do not show every snapshot (${reason}). The snapshots themselves are published, and the next export tries to complete ` +
        'the tables.',
    );
  }
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
