/** The snapshot is published, its Iceberg tables are not complete: readers by tag still see the snapshots that are. */
export class IcebergFailed extends Error {
  override readonly name = 'IcebergFailed';
  readonly handling = 'retry';

  constructor(reason: string) {
    super(
      `The Iceberg tables do not show every snapshot (${reason}). The snapshots themselves are published, and the next export completes ` +
        'the tables.',
    );
  }
}
