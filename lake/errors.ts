/** The lake cannot be written or read as it is set up: permissions, a missing bucket, a wrong address. A person is needed. */
export class LakeRefused extends Error {
  override readonly name = 'LakeRefused';
  readonly handling = 'stop';

  constructor(location: string, reason: string, cause?: unknown) {
    super(`The lake ${location} refuses: ${reason}. Check DAYBOOK_LAKE and its permissions.`, { cause });
  }
}

/** Object storage that does not answer, or answers that it is busy. */
export class LakeUnavailable extends Error {
  override readonly name = 'LakeUnavailable';
  readonly handling = 'retry';

  constructor(location: string, reason: string, cause?: unknown) {
    super(`The lake ${location} does not answer (${reason}). The export goes on by itself when it does.`, {
      cause,
    });
  }
}

/** Nothing was published, and what was written is removed. `setting` is the variable that says where the folder is. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull';
  readonly handling = 'stop';

  constructor(folder: string, { neededBytes, setting }: { neededBytes: number; setting: string }) {
    const megabytes = Math.max(1, Math.ceil(neededBytes / 1_000_000)).toLocaleString('en-US');
    super(
      `There is no room for a snapshot in ${folder}: it needs about ${megabytes} MB. Free some space or set ${setting} to ` +
        'another place, then run "daybook export" again.',
    );
  }
}

/** A table has a row that no buffer holds. */
export class RowTooLong extends Error {
  override readonly name = 'RowTooLong';
  readonly handling = 'stop';

  constructor(table: string, longestBytes: number) {
    super(
      `Table ${table} has a row of more than ${longestBytes / 1_000_000} MB, which no snapshot can hold, so nothing was published. ` +
        'Shorten it at the source; the longest memo or platform_data tells which it is.',
    );
  }
}

/** The snapshots there are of another database; a lake shows the history of one. */
export class ForeignLake extends Error {
  override readonly name = 'ForeignLake';
  readonly handling = 'stop';

  constructor(location: string) {
    super(
      `The lake ${location} holds snapshots of another warehouse, so nothing was written. Set DAYBOOK_LAKE to a place of its own.`,
    );
  }
}

/** `latest.json` is no pointer any more. */
export class PointerDamaged extends Error {
  override readonly name = 'PointerDamaged';
  readonly handling = 'stop';

  constructor(location: string) {
    super(
      `latest.json of the lake ${location} cannot be read, so nobody knows which snapshot is the latest. Run "daybook export": it publishes one and writes that file again.`,
    );
  }
}

/** What was read back is not what the database had: nothing is published. */
export class SnapshotBroken extends Error {
  override readonly name = 'SnapshotBroken';
  readonly handling = 'retry';

  constructor(problem: string) {
    super(`A snapshot that was just written is not right, so it was not published: ${problem}.`);
  }
}
