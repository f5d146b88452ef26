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
